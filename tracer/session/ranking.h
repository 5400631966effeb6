// SPDX-License-Identifier: MIT
// Orders functions, living and gone, by their cost over the whole run.
// Pure.
#ifndef OCULAR_TRACER_SESSION_RANKING_H
#define OCULAR_TRACER_SESSION_RANKING_H

#include "ipc/snapshot.h"

struct Ranked { // one of the two, the other is NULL
    const struct Function *function;
    const struct RetiredRow *retired;
};

// Less than 0: `a` comes first. By the share of the whole run; then by self
// cycles, total cycles and calls. A null counts as 0.
int Ranking_compare(const struct Ranked *a, const struct Ranked *b);
// Returns the first `room` functions, or all if there are fewer, and their
// number. The row that sums up those without a row is left out.
size_t Ranking_first(const struct Snapshot *snapshot, struct Ranked *first,
                     size_t room);
// The row of the retired that sums up the others, or NULL.
const struct RetiredRow *Ranking_others(const struct Snapshot *snapshot);

#endif
