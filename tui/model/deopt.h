// SPDX-License-Identifier: MIT
// Reads the snapshot's log of transitions. Finds functions in which an
// instruction has just lost its specialised form, and functions in which an
// instruction changes its form repeatedly (a storm). The model and the opcodes
// view call these functions on one thread.
#pragma once

#include "ipc/snapshot.h"

#include <stdbool.h>

#define DEOPT_RECENT_S 10.0

// Sorted ids of the functions with a deopt in the last DEOPT_RECENT_S seconds.
struct Deopt {
    uint64_t *ids;
    size_t count;
};

// Finds the functions with a recent deopt. Returns 0, or -ENOMEM with an empty
// `deopt`.
int Deopt_init(struct Deopt *deopt, const struct Snapshot *snapshot);
void Deopt_release(struct Deopt *deopt);
bool Deopt_has(const struct Deopt *deopt, const struct Function *function);
// Returns true if this transition left a specialised form. An older Ocular does
// not send `deopt`. Without `deopt`, the names of the opcodes show a return to
// the base opcode (LOAD_ATTR_SLOT -> LOAD_ATTR).
bool Deopt_is(const struct Transition *one);
// Returns the number of deopts of all functions since the start.
double Deopt_total(const struct Snapshot *snapshot);
// Returns the number of functions in a storm, and sets *first to the newest
// transition of a storm, or NULL.
int Deopt_storms(const struct Snapshot *now, const struct Transition **first);
