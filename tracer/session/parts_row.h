// SPDX-License-Identifier: MIT
// Fills the parts of the waiting time and of the total time in a function's
// row. Only the thread that builds snapshots calls PartsRow_fill.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/code/code.h"
#include "tracer/session/moment.h"

// Fills the lists f->waits and f->total_parts, which are empty if nothing is
// known. f->total_share must be set before. Returns false if there is no
// memory.
bool PartsRow_fill(struct Arena *arena, struct Function *f,
                   const struct Code *code, const struct Moment *at);
