// SPDX-License-Identifier: MIT
// Which functions lose specialised instructions right now, or change them
// again and again, found in the snapshot's log of transitions. Used by the
// model, on its thread.
#ifndef OCULAR_TUI_MODEL_DEOPT_H
#define OCULAR_TUI_MODEL_DEOPT_H

#include "ipc/snapshot.h"

#include <stdbool.h>

#define DEOPT_RECENT_S 10.0

struct Deopt { // functions that lost one lately, by id
    uint64_t *ids;
    size_t count;
};

// 0 or -ENOMEM.
int Deopt_init(struct Deopt *deopt, const struct Snapshot *snapshot);
void Deopt_release(struct Deopt *deopt);
bool Deopt_has(const struct Deopt *deopt, const struct Function *function);
// Did this change leave a specialised form? An older process does not say;
// then a return to the base (LOAD_ATTR_SLOT -> LOAD_ATTR) is known by its
// names.
bool Deopt_is(const struct Transition *one);
// All so far, or NaN when no transitions are recorded.
double Deopt_total(const struct Snapshot *snapshot);

#endif
