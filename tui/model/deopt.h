// SPDX-License-Identifier: MIT
// Reads the snapshot's log of transitions. Finds functions in which an
// instruction has just lost its specialised form, and functions in which the
// form of an instruction changes again and again (a storm). The model and the
// opcodes view call these functions on one thread.
#pragma once

#include "ipc/snapshot.h"

#include <stdbool.h>

#define DEOPT_RECENT_S 10.0

// Sorted ids of the functions in which an instruction has lost its specialised
// form or is in a storm, in the last DEOPT_RECENT_S seconds.
struct Deopt {
    uint64_t *ids;
    size_t count;
};

// Finds these functions. Returns 0, or -ENOMEM with an empty `deopt`.
int Deopt_init(struct Deopt *deopt, const struct Snapshot *snapshot);
void Deopt_release(struct Deopt *deopt);
bool Deopt_has(const struct Deopt *deopt, const struct Function *function);
// Returns true if the instruction lost its specialised form by this transition.
// An older Ocular does not send `deopt`. Without `deopt`, a transition counts
// if its new opcode is the base opcode (LOAD_ATTR_SLOT -> LOAD_ATTR).
bool Deopt_is(const struct Transition *one);
// Returns the number of losses of specialised forms in all functions since the
// start of tracing.
double Deopt_total(const struct Snapshot *snapshot);
// Returns the number of functions with a storm, and sets *first to the newest
// transition of a storm, or to NULL.
int Deopt_storms(const struct Snapshot *now, const struct Transition **first);
