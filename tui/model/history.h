// SPDX-License-Identifier: MIT
// Numbers that only grow, as answers of the last minute had them: what they
// were in any window of that is the difference of two answers. The flame graph
// has a number a path, annotate one an instruction. Knows no screen. One
// thread.
#ifndef OCULAR_TUI_MODEL_HISTORY_H
#define OCULAR_TUI_MODEL_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#define HISTORY_MOST 70 // moments: a minute of them

enum Period {
    PERIOD_LATELY, // the sampler's own window, in which older samples fade
    PERIOD_5_S,
    PERIOD_60_S,
    PERIOD_SINCE, // History_mark, or the start
    PERIODS
};

struct Total {
    uint64_t key;
    double all;
    double in_c; // of that
};

struct Moment { // one answer
    double at_s;
    double samples;
    struct Total *totals;
    size_t count;
};

struct History {                         // zeroed: empty
    struct Moment moments[HISTORY_MOST]; // oldest first, totals by key
    size_t count;
    struct Moment mark; // zeroed: the start
};

// Keeps a copy, if the newest that is kept is a second older. An answer of
// another run than the ones before empties it first.
void History_note(struct History *history, const struct Moment *now);
// PERIOD_SINCE begins with a copy of this.
void History_mark(struct History *history, const struct Moment *now);
// Where the period that ends at that time begins, or the oldest there is.
const struct Moment *History_begin(const struct History *history, double now_s,
                                   enum Period period);
// What has come since then; never less than nothing: what was told apart may be
// a part of something else now.
struct Total Moment_since(const struct Moment *then, const struct Total *now);
// For the title: ", since r", ", since the start", or "".
const char *History_about(const struct History *history, enum Period period);
void Moment_release(struct Moment *moment);
void History_release(struct History *history);

#endif
