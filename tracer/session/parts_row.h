// SPDX-License-Identifier: MIT
// Fills in the parts of a function's waiting time and of its total time in the
// function's row. Only the thread that builds snapshots calls PartsRow_fill.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/code/code.h"
#include "tracer/session/moment.h"

// Fills in the lists f->waits and f->total_parts, which are empty if nothing is
// known. The caller sets f->total_share before.
void PartsRow_fill(struct Arena *arena, struct Function *f,
                   const struct Code *code, const struct Moment *at);
