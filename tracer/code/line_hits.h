// SPDX-License-Identifier: MIT
// Counts the hits of a function's lines. struct LineHits exists only if the
// user has chosen lines, and only after the function's lines were armed. The
// holder of the counting lock writes the counts. Any thread may read the counts
// in a read section of RCU. The struct Code owns its struct LineHits.
//
// A function that is armed in slices loses the hooks of hot lines after a few
// hits. The rate of such a line is computed from the hits for each tick of the
// function's own time, and from the function's share of time. This rate is
// right even if the function runs in bursts.
#pragma once

#include "tracer/base/counter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_MOST 65536u // Largest number of lines of a function.
// CPython 3.12 and early versions of 3.13 are slow at lines behind this one.
#define LINES_NEAR 120u

struct LineHit {
    counter_t hits;
    // Number of hits at which the time since the hit before was known. Older
    // hits weigh less.
    counter_t timed;
    // Ticks of the function's own time in which the line was armed until it
    // last went dark. Older ticks weigh less.
    counter_t ticks;
    // Value of LineHits.ticks when the line was armed, or LINE_DARK.
    counter_t from;
    uint64_t stop_at; // Number of hits at which the line goes dark.
    // The hits and the hits per second (a double) at the last reading. A thread
    // that builds a snapshot or a listing writes them.
    counter_t read_hits, per_s;
    _Atomic bool floor; // True if the line was ever dark.
};

#define LINE_DARK UINT64_MAX

struct LineHits {
    uint32_t first; // Number of the first line.
    uint32_t count; // Number of elements of `lines`.
    // Ticks of the function's own time between hits.
    counter_t ticks;
    // Ticks after the last hit of calls whose end was not seen. They are not in
    // `ticks`, because a part of them belongs to the caller.
    counter_t lost;
    counter_t begun_ticks; // Ticks of the first hit, or 0.
    counter_t read_ticks;  // Ticks of the last reading, or 0.
    struct LineHit lines[];
};

// Returns the line with this number, or NULL.
static inline struct LineHit *LineHits_at(struct LineHits *lines, uint64_t line)
{
    return lines && line - lines->first < lines->count
               ? &lines->lines[line - lines->first]
               : NULL;
}

static inline bool LineHit_is_dark(const struct LineHit *line)
{
    return Counter_get(&line->from) == LINE_DARK;
}

// The line numbers of a code object, from the least to the last one.
struct LineRange {
    uint32_t first; // The least line.
    uint32_t count; // Number of lines, at most LINES_MOST; 0 if there is none.
};

// Returns the range of a location table (lines.h).
struct LineRange LineRange_of(const uint8_t *table, size_t size,
                              uint32_t first_line);
// Makes the lines of a range, which have no hooks. If `late` is true, hits are
// missing. Returns NULL if memory is out.
struct LineHits *LineHits_new(struct LineRange range, bool late);
// Arms all lines for `hits` more hits each, or for ever if `hits` is 0.
void LineHits_arm(struct LineHits *lines, uint64_t hits);
// Makes all lines dark.
void LineHits_disarm(struct LineHits *lines);
// Allows each armed line `hits` hits from now on. If `hits` is 0, each line
// goes dark at its next hit. Lines that are armed for ever stay armed.
void LineHits_extend(struct LineHits *lines, uint64_t hits);
// Makes a line dark.
void LineHits_darken(const struct LineHits *lines, struct LineHit *line);
// Adds to the lost ticks.
static inline void LineHits_lose(struct LineHits *lines, int64_t ticks)
{
    if (ticks > 0)
        Counter_add(&lines->lost, (uint64_t)ticks);
}

// Returns the function's share of one core's time from which rates are
// estimated, or NaN if the function waits much. A share contains waits, but the
// time between hits does not.
double LineHits_share(double cpu, double wait);
// Returns the hits per second: counted if the line was never dark, otherwise
// estimated from `share` (LineHits_share). Returns NaN if the rate is not
// known. The thread that builds snapshots calls LineHits_read before.
double LineHits_rate(const struct LineHits *lines, const struct LineHit *line,
                     double share, double hz);
// Computes the counted rates again if the last reading, or the first hit, is
// half a second old.
void LineHits_read(struct LineHits *lines, uint64_t ticks, double hz);
size_t LineHits_bytes(const struct LineHits *lines); // `lines` may be NULL.
