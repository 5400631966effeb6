// SPDX-License-Identifier: MIT
// What flame tables of the last minute said of each path's CPU time since the
// start: shares of any period are the difference of two. Paths are told apart
// by a hash of their functions. Knows no screen. One thread.
#ifndef OCULAR_TUI_FLAME_HISTORY_H
#define OCULAR_TUI_FLAME_HISTORY_H

#include "ipc/flame_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLAME_MOMENTS 70 // a minute of them

enum FlamePeriod {
    FLAME_LATELY, // the sampler's own window, in which older samples fade
    FLAME_5_S,
    FLAME_60_S,
    FLAME_SINCE, // FlameHistory_mark, or the start
    FLAME_PERIODS
};

struct FlameMoment {
    double at_s; // of the sampler's time
    uint64_t samples;
    struct FlameTotal *totals; // by path
    size_t count;
};

struct FlameHistory {                          // zeroed: empty
    struct FlameMoment moments[FLAME_MOMENTS]; // oldest first
    size_t count;
    struct FlameMoment mark; // zeroed: the start
};

struct FlameShare { // of a core
    double self;
    double in_c;
};

// Keeps what the table says, if the newest that is kept is a second older. A
// table of another run than the ones before empties it first.
void FlameHistory_note(struct FlameHistory *history,
                       const struct FlameTable *table);
// FLAME_SINCE begins with this table.
void FlameHistory_mark(struct FlameHistory *history,
                       const struct FlameTable *table);
// The shares of the table's rows in the period that ends with it, for the
// caller to free. The period may be shorter than was asked for: *s, and its
// *samples. NULL: FLAME_LATELY, nothing has gone by, the process sends no
// totals, or no memory: what the rows say themselves, then.
struct FlameShare *FlameHistory_shares(const struct FlameHistory *history,
                                       const struct FlameTable *table,
                                       enum FlamePeriod period, double *s,
                                       double *samples);
void FlameHistory_release(struct FlameHistory *history);

#endif
