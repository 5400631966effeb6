// SPDX-License-Identifier: MIT
// A history contains the counters that a process has reported in the last
// minute. A moment is one report of the counters. A counter only grows. The
// growth of a counter in a period is the difference between two moments. The
// flame view has a counter for each path of callers, and the annotate view has
// one for each instruction. The flame view and the annotate view each own a
// history.
#pragma once

#include <stddef.h>
#include <stdint.h>

// A history has at most HISTORY_MOST moments, which are enough for a minute.
#define HISTORY_MOST 70

enum Period {
    // The window over which the sampler computes shares, in which older samples
    // have less weight.
    PERIOD_LATELY,
    PERIOD_5_S,
    PERIOD_60_S,
    PERIOD_SINCE, // The time since History_mark, or since the start of tracing.
    PERIODS
};

struct Total {
    uint64_t key;
    double all;
    double in_c; // The part of `all` in C code.
};

struct Moment { // One report of a process's counters.
    double at_s;
    double samples;
    struct Total *totals;
    size_t count;
};

struct History { // An empty history has only zero bytes.
    // The oldest moment comes first. The totals of each moment are sorted by
    // key.
    struct Moment moments[HISTORY_MOST];
    size_t count;
    // Start of PERIOD_SINCE (a struct of zero bytes = the start of tracing).
    struct Moment mark;
};

// If the newest moment is at least about a second old, appends a copy of `now`.
// If `now` belongs to another run, first empties the history.
void History_note(struct History *history, const struct Moment *now);
// Lets PERIOD_SINCE begin at a copy of `now`.
void History_mark(struct History *history, const struct Moment *now);
// Returns the moment with which a period begins that ends at `now_s`. If the
// history is too short, returns the oldest moment.
const struct Moment *History_begin(const struct History *history, double now_s,
                                   enum Period period);
// Returns the growth of a counter since `then`. A negative difference counts as
// 0. A difference is negative if the process has merged paths that it counted
// separately before.
struct Total Moment_since(const struct Moment *then, const struct Total *now);
// Returns the end of a view's title, which is ", since r", ", since the start"
// or "".
const char *History_about(const struct History *history, enum Period period);
void Moment_release(struct Moment *moment);
void History_release(struct History *history);
