// SPDX-License-Identifier: MIT
// Calls as pairs of caller and callee, with their CPU time, counted from the
// stacks of the flame graph. The callers view uses them for periods other than
// the sampler's window. One thread.
#ifndef OCULAR_TUI_MODEL_CALLS_H
#define OCULAR_TUI_MODEL_CALLS_H

#include "ipc/flame_table.h"
#include "tui/model/flame_tree.h"

#include <stddef.h>
#include <stdint.h>

struct Call {
    uint64_t callee;
    uint64_t caller; // id of the caller; NULL_U64: no caller, or not known
    double share;    // share of a core: the callee including its callees
};

struct CallTotal {
    uint64_t id;
    double total; // share of a core, including callees
    double self;  // share of a core, without callees
};

struct Calls {          // a zeroed struct has no calls
    struct Call *calls; // calls sorted by callee, then caller; owned
    size_t count;
    struct CallTotal *functions; // totals sorted by function id; owned
    size_t function_count;
};

// Counts the calls in a table that FlameTree_take has checked. `shares` has the
// shares of the first `count` rows. A function that is on a stack several times
// counts only where it is nearest to the bottom. Returns 0, or -ENOMEM with
// `calls` unchanged.
int Calls_count(struct Calls *calls, const struct FlameTable *table,
                const struct FlameShare *shares, size_t count);
// Returns the totals of a function, or zeros if it did not run.
struct CallTotal Calls_of(const struct Calls *calls, uint64_t id);
void Calls_release(struct Calls *calls);

#endif
