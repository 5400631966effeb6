// SPDX-License-Identifier: MIT
// Stores counters that only grow, as the process reported them in the last
// minute. The growth in a window is the difference between two answers. The
// flame graph has a counter for each path, the annotate view one for each
// instruction. Owned by these views. One thread.
#ifndef OCULAR_TUI_MODEL_HISTORY_H
#define OCULAR_TUI_MODEL_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#define HISTORY_MOST 70 // enough moments for a minute

enum Period {
    // the sampler's own window, in which older samples have less weight
    PERIOD_LATELY,
    PERIOD_5_S,
    PERIOD_60_S,
    PERIOD_SINCE, // since History_mark, or since the start
    PERIODS
};

struct Total {
    uint64_t key;
    double all;
    double in_c; // the part of `all` that was in C
};

struct Moment { // one answer of the process
    double at_s;
    double samples;
    struct Total *totals;
    size_t count;
};

struct History { // a zeroed history is empty
    struct Moment
        // the oldest first; their totals are sorted by key
        moments[HISTORY_MOST];
    size_t count;
    struct Moment mark; // start of PERIOD_SINCE; zeroed: the start of tracing
};

// Stores a copy of `now` if the newest moment is about a second older. If `now`
// belongs to another run, the history is emptied first.
void History_note(struct History *history, const struct Moment *now);
// Makes PERIOD_SINCE start at a copy of `now`.
void History_mark(struct History *history, const struct Moment *now);
// Returns the moment at which the period that ends at `now_s` begins, or the
// oldest moment.
const struct Moment *History_begin(const struct History *history, double now_s,
                                   enum Period period);
// Returns the growth of a counter since `then`. The growth is never below 0:
// the process may now count paths together that it counted separately before.
struct Total Moment_since(const struct Moment *then, const struct Total *now);
// Returns ", since r", ", since the start" or "", for a title.
const char *History_about(const struct History *history, enum Period period);
void Moment_release(struct Moment *moment);
void History_release(struct History *history);

#endif
