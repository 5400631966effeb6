// SPDX-License-Identifier: MIT
// Fills the parts of a row's waiting time and of its total time. Only the
// thread that builds snapshots calls PartsRow_fill.
#ifndef OCULAR_TRACER_SESSION_PARTS_ROW_H
#define OCULAR_TRACER_SESSION_PARTS_ROW_H

#include "ipc/snapshot.h"
#include "tracer/code/code.h"
#include "tracer/session/moment.h"

// The lists are empty if nothing is known. f->total_share is set already.
// Returns false if memory is out.
bool PartsRow_fill(struct Arena *arena, struct Function *f,
                   const struct Code *code, const struct Moment *at);

#endif
