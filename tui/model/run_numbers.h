// SPDX-License-Identifier: MIT
// Compares those numbers of two runs that are not times of a function's own
// code, which are latencies of functions, the GIL, garbage collection,
// exceptions, and event loops. A change of less than two standard errors is
// noise. Between two runs of the same program such numbers differ more than
// their statistics say. A part of the number is therefore added to its standard
// error.
#pragma once

#include "ipc/snapshot.h"

#include <stdbool.h>

// A change of more than COMPARISON_LIMIT standard errors is not noise.
#define COMPARISON_LIMIT 2.0

// A number that is measured in both runs, or null if it is unknown.
struct Measured {
    double a; // The number in the first run.
    double b; // The number in the second run.
    double change;
    double error;   // Standard error of `change`.
    uint64_t apart; // True if `change` is more than noise.
};

// A number of the whole run, or the latency of a function.
struct ComparedNumber {
    const char *what;
    // Name of the function, of the type of exceptions, or of the thread; or
    // NULL.
    const char *name;
    const char *file;         // The function's file, or NULL.
    const char *unit;         // "s", "share" (of a core), "per_s" or "per_min".
    struct Measured measured; // The change is b - a.
};

extern const struct Record COMPARED_NUMBER_RECORD;

struct SameFunction { // A function in both runs.
    const struct Function *a, *b;
};

// Compares the numbers of two runs, whose snapshots are `a` and `b`, and the
// latencies of the functions in `same`. Rates are compared only if `rates` is
// true. The returned list is allocated in the arena. Numbers that changed by
// more than noise come first. Sets *count to the length of the list. Returns
// NULL if there is no memory.
const struct ComparedNumber *
RunNumbers_compare(struct Arena *arena, const struct Snapshot *a,
                   const struct Snapshot *b, const struct SameFunction *same,
                   size_t same_count, bool rates, size_t *count);
// Describes the change of a number in a line without control characters.
void RunNumbers_text(const struct ComparedNumber *number, char *line,
                     size_t size);
