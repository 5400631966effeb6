// SPDX-License-Identifier: MIT
// Reads the snapshot's log of transitions. Finds instructions that have just
// lost their specialised form, and instructions whose form changes again and
// again (a storm). The functions are pure.
#pragma once

#include "ipc/snapshot.h"

#include <stdbool.h>

// Returns true if the instruction lost its specialised form by this transition.
// An older Ocular does not send `deopt`. Without `deopt`, a transition counts
// if its new opcode is the base opcode (LOAD_ATTR_SLOT -> LOAD_ATTR).
bool Deopt_is(const struct Transition *one);
// Returns true if the instruction lost its specialised form or was in a storm
// in the seconds before the snapshot.
bool Deopt_is_recent(const struct Snapshot *now, const struct Transition *one);
// Returns the number of losses of specialised forms in all functions since the
// start of tracing.
double Deopt_total(const struct Snapshot *snapshot);
// Returns the number of functions with a storm, and sets *first to the newest
// transition of a storm, or to NULL.
int Deopt_storms(const struct Snapshot *now, const struct Transition **first);
