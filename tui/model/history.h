// SPDX-License-Identifier: MIT
// Counters that only grow, as the answers of the last minute had them. Their
// growth in a window is the difference of two answers. The flame graph has a
// counter for each path, annotate one for each instruction. Owned by these
// views. One thread.
#ifndef OCULAR_TUI_MODEL_HISTORY_H
#define OCULAR_TUI_MODEL_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#define HISTORY_MOST 70 // moments of a minute

enum Period {
    PERIOD_LATELY, // the sampler's own window, in which older samples weigh
                   // less
    PERIOD_5_S,
    PERIOD_60_S,
    PERIOD_SINCE, // since History_mark, or the start
    PERIODS
};

struct Total {
    uint64_t key;
    double all;
    double in_c; // the part of `all` in C
};

struct Moment { // one answer of the process
    double at_s;
    double samples;
    struct Total *totals;
    size_t count;
};

struct History { // zeroed: it is empty
    struct Moment
        moments[HISTORY_MOST]; // the oldest first, totals sorted by key
    size_t count;
    struct Moment mark; // where PERIOD_SINCE begins; zeroed: the start
};

// Keeps a copy, if the newest one is a second older. An answer of another run
// empties the history first.
void History_note(struct History *history, const struct Moment *now);
// Lets PERIOD_SINCE begin with a copy of this.
void History_mark(struct History *history, const struct Moment *now);
// Returns where the period that ends at `now_s` begins, or the oldest moment.
const struct Moment *History_begin(const struct History *history, double now_s,
                                   enum Period period);
// Returns a counter's growth since then, never below 0: paths that were apart
// may be counted together now.
struct Total Moment_since(const struct Moment *then, const struct Total *now);
// Returns ", since r", ", since the start" or "", for the title.
const char *History_about(const struct History *history, enum Period period);
void Moment_release(struct Moment *moment);
void History_release(struct History *history);

#endif
