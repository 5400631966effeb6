// SPDX-License-Identifier: MIT
// Fills in the latencies and the calls in flight (begun and not ended) of a
// function's row. The thread that builds a snapshot calls the functions of
// latency_row.h.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/code/code.h"
#include "tracer/session/moment.h"

void LatencyRow_fill(struct Function *f, struct Code *code,
                     const struct Moment *at);
// Fills in the calls by their latencies, if a viewer has asked for them.
void LatencyRow_fill_totals(struct Arena *arena, struct Function *f,
                            const struct Code *code);
// Returns true if the function's row changes without a hit, because the oldest
// call in flight grows older.
bool LatencyRow_changes(const struct Function *f, const struct Code *code);
