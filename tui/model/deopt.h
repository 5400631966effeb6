// SPDX-License-Identifier: MIT
// Finds in the snapshot's log of transitions which functions have just lost
// specialised instructions, or change them again and again. Called by the model
// and by the opcodes view. One thread.
#ifndef OCULAR_TUI_MODEL_DEOPT_H
#define OCULAR_TUI_MODEL_DEOPT_H

#include "ipc/snapshot.h"

#include <stdbool.h>

#define DEOPT_RECENT_S 10.0

struct Deopt { // functions that lost one in the last DEOPT_RECENT_S, by id
    uint64_t *ids;
    size_t count;
};

// 0 or -ENOMEM.
int Deopt_init(struct Deopt *deopt, const struct Snapshot *snapshot);
void Deopt_release(struct Deopt *deopt);
bool Deopt_has(const struct Deopt *deopt, const struct Function *function);
// Did this change leave a specialised form? An older process does not report
// it; then the names show a return to the base (LOAD_ATTR_SLOT -> LOAD_ATTR).
bool Deopt_is(const struct Transition *one);
// Returns the deopts of all functions since the start.
double Deopt_total(const struct Snapshot *snapshot);
// Counts the functions in a storm. *first is the one that changed last.
int Deopt_storms(const struct Snapshot *now, const struct Transition **first);

#endif
