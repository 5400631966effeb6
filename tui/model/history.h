// SPDX-License-Identifier: MIT
// A history stores counters as the process reported them in the last minute.
// Each moment of a history is one report. A counter only grows. The growth of a
// counter in a period is the difference of two reports. The flame view has a
// counter for each path, and the annotate view has a counter for each
// instruction. Both views own a history.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Number of moments that a history can have, enough for a minute.
#define HISTORY_MOST 70

enum Period {
    // The sampler's own window, in which older samples have less weight.
    PERIOD_LATELY,
    PERIOD_5_S,
    PERIOD_60_S,
    PERIOD_SINCE, // Time since History_mark or since tracing began.
    PERIODS
};

struct Total {
    uint64_t key;
    double all;
    double in_c; // the part of `all` in C code
};

struct Moment { // One report of the counters of a process.
    double at_s;
    double samples;
    struct Total *totals;
    size_t count;
};

struct History { // A zeroed history is empty.
    // The oldest moment is the first. The totals of a moment are sorted by key.
    struct Moment moments[HISTORY_MOST];
    size_t count;
    struct Moment mark; // start of PERIOD_SINCE (all 0 = the start of tracing)
};

// Stores a copy of `now` if the newest moment is at least about a second old.
// If `now` belongs to another run, empties the history first.
void History_note(struct History *history, const struct Moment *now);
// Starts PERIOD_SINCE at a copy of `now`.
void History_mark(struct History *history, const struct Moment *now);
// Returns the moment at which a period begins that ends at `now_s`. If the
// history is too short, returns the oldest moment.
const struct Moment *History_begin(const struct History *history, double now_s,
                                   enum Period period);
// Returns the growth of a counter since `then`. A negative difference counts as
// 0, because the process may merge paths that the process counted separately
// before.
struct Total Moment_since(const struct Moment *then, const struct Total *now);
// Returns the end of a view's title, which is ", since r", ", since the start"
// or "".
const char *History_about(const struct History *history, enum Period period);
void Moment_release(struct Moment *moment);
void History_release(struct History *history);
