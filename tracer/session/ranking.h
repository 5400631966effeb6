// SPDX-License-Identifier: MIT
// Sorts existing and retired functions by their cost over the whole run. The
// functions of ranking.h only use their arguments.
#pragma once

#include "ipc/snapshot.h"

// A function that still exists, or a retired one, whose code object was freed.
// Either `function` or `retired` is NULL.
struct Ranked {
    const struct Function *function;
    const struct RetiredRow *retired;
};

// Compares two functions by their share of the whole run, then by self cycles,
// total cycles and calls. Null counts as 0. The result is below 0 if `a` comes
// first.
int Ranking_compare(const struct Ranked *a, const struct Ranked *b);
// Stores at most `room` functions, those with the highest cost. Returns the
// number of functions stored. The row that sums up retired functions is left
// out.
size_t Ranking_first(const struct Snapshot *snapshot, struct Ranked *first,
                     size_t room);
// Returns the row that sums up the retired functions without a row of their
// own, or NULL.
const struct RetiredRow *Ranking_others(const struct Snapshot *snapshot);
