// SPDX-License-Identifier: MIT
// struct Calls is a table of all pairs of caller and callee with their CPU
// time. The table is computed from the stacks of the flame graph. The callers
// view uses this table for all periods except the sampler's window.
#pragma once

#include "ipc/flame_table.h"
#include "tui/model/flame_tree.h"

#include <stddef.h>
#include <stdint.h>

struct Call {
    uint64_t callee;
    uint64_t caller; // Id of the caller (NULL_U64 = no known caller).
    // CPU time of the callee and its callees, as a share of a core.
    double share;
};

struct CallTotal {
    uint64_t id;
    double total; // CPU time including callees, as a share of a core.
    double self;  // CPU time without callees, as a share of a core.
};

struct Calls {          // A zeroed struct has no calls.
    struct Call *calls; // Owned array of calls, sorted by callee, then caller.
    size_t count;
    struct CallTotal *functions; // owned array of totals, sorted by function id
    size_t function_count;
};

// Adds up the CPU time of all calls in a table of stacks that FlameTree_take
// has checked. `shares` has the shares of the first `count` rows. If a function
// is on a stack several times, only its frame nearest to the bottom counts.
// Returns 0, or -ENOMEM with `calls` unchanged.
int Calls_count(struct Calls *calls, const struct FlameTable *table,
                const struct FlameShare *shares, size_t count);
// Returns the totals of a function, or zeros if the function did not run.
struct CallTotal Calls_of(const struct Calls *calls, uint64_t id);
void Calls_release(struct Calls *calls);
