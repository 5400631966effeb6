// SPDX-License-Identifier: MIT
// Calls as pairs of caller and callee, and their CPU time, counted from the
// stacks of the flame graph. The callers view shows it for windows of its own.
// One thread.
#ifndef OCULAR_TUI_MODEL_CALLS_H
#define OCULAR_TUI_MODEL_CALLS_H

#include "ipc/flame_table.h"
#include "tui/model/flame_tree.h"

#include <stddef.h>
#include <stdint.h>

struct Call {
    uint64_t callee;
    uint64_t caller; // NULL_U64: none, or not known
    double share;    // of a core: the callee with its callees
};

struct CallTotal {
    uint64_t id;
    double total; // share of a core, with callees
    double self;  // share of a core, without callees
};

struct Calls {          // zeroed: none
    struct Call *calls; // by callee, then caller
    size_t count;
    struct CallTotal *functions; // by id
    size_t function_count;
};

// Counts the rows of a table that FlameTree_take has taken, with these shares,
// one for each of the first `count` rows. A function that is on a stack several
// times counts where it is nearest to the bottom. 0, or -ENOMEM: the calls are
// as before.
int Calls_count(struct Calls *calls, const struct FlameTable *table,
                const struct FlameShare *shares, size_t count);
// Returns a function's total; zeros: it did not run.
struct CallTotal Calls_of(const struct Calls *calls, uint64_t id);
void Calls_release(struct Calls *calls);

#endif
