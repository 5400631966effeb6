// SPDX-License-Identifier: MIT
// struct Calls is a table of all pairs of caller and callee with the time of
// each pair: CPU time, waits or both. The table is computed from the stacks of
// the flame graph. The callers view uses the table, except if the view shows
// CPU time and waits together in the sampler's window.
#pragma once

#include "ipc/flame_table.h"
#include "tui/model/flame_tree.h"

#include <stddef.h>
#include <stdint.h>

struct Call {
    // Id of the callee, or of a wait in the caller (FlameWait_kind).
    uint64_t callee;
    uint64_t caller; // Id of the caller (NULL_U64 = no known caller).
    // Time of the callee and its callees, as a share of a core.
    double share;
};

struct CallTotal {
    uint64_t id;
    double total; // Time including callees, as a share of a core.
    double self;  // CPU time without callees, as a share of a core.
    double waits; // Waits in the function itself, as a share of a core.
};

struct Calls {          // An empty struct has only zero bytes.
    struct Call *calls; // Owned array of calls, sorted by callee, then caller.
    size_t count;
    // Owned array of totals, sorted by function id.
    struct CallTotal *functions;
    size_t function_count;
};

// Adds up the time of all calls in a table of stacks that FlameTree_take has
// checked. `mode` says which times count. `shares` has the shares of the rows
// and then of the waits (FlameShares_since), or is NULL for the table's own
// shares. If a function is on a stack several times, only its outermost frame
// counts. Returns 0, or -ENOMEM with `calls` unchanged.
int Calls_count(struct Calls *calls, const struct FlameTable *table,
                const struct FlameShare *shares, enum FlameMode mode);
// Returns the totals of a function, or zeros if the function did not run.
struct CallTotal Calls_of(const struct Calls *calls, uint64_t id);
void Calls_release(struct Calls *calls);
