// SPDX-License-Identifier: MIT
// Counts the hits of a function's lines. struct LineHits exists only if the
// user has chosen lines, and only after the function's lines had hooks for the
// first time. The holder of the counting lock writes the counts. Any thread may
// read the counts in an RCU read section. Each struct LineHits belongs to a
// struct Code.
//
// If a function has hooks only in slices, its hot lines lose their hooks after
// a few hits. The hit rate of such a hot line is the number of hits for each
// tick of the function's own time, multiplied by the function's share of time.
// The rate is right even if the function runs in bursts.
#pragma once

#include "tracer/base/counter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_MOST 65536u // Largest number of lines.
// In CPython 3.12 and early versions of 3.13, events of lines are slow behind
// this number of lines.
#define LINES_NEAR 120u

struct LineHit {
    counter_t hits;
    // Number of hits for which the time since the hit before is known. Older
    // hits weigh less.
    counter_t timed;
    // Ticks of the function's own time in which the line had its hook, without
    // the time since the hook was last installed. Older ticks weigh less.
    counter_t ticks;
    // LineHits.ticks when the line last got its hook, or LINE_DARK if the line
    // has no hook.
    counter_t from;
    uint64_t stop_at; // At this number of hits the line loses its hook.
    // The hits and the hits per second (a double) at the newest reading. A
    // thread that builds a snapshot or a listing writes `read_hits` and
    // `per_s`.
    counter_t read_hits, per_s;
    _Atomic bool floor; // True if the line was ever without its hook.
};

#define LINE_DARK UINT64_MAX

struct LineHits {
    uint32_t first; // Number of the first line.
    uint32_t count; // Number of elements of `lines`.
    // Ticks of the function's own time between hits.
    counter_t ticks;
    // Ticks between the last hit of a call and the call's end, if no hook saw
    // this end. Lost ticks are not in `ticks`, because some of them belong to
    // the caller.
    counter_t lost;
    counter_t begun_ticks; // Ticks at the first hit, or 0.
    counter_t read_ticks;  // Ticks at the newest reading, or 0.
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

// The line numbers of a code object, from the lowest to the highest one.
struct LineRange {
    uint32_t first; // The least line.
    // Number of lines, at most LINES_MOST, or 0 if there is none.
    uint32_t count;
};

// Returns the range of line numbers in a location table (lines.h).
struct LineRange LineRange_of(const uint8_t *table, size_t size,
                              uint32_t first_line);
// Makes a struct LineHits for a range of lines, which have no hooks yet. `late`
// is true if the lines may have had hits before. Returns NULL if memory is out.
struct LineHits *LineHits_new(struct LineRange range, bool late);
// Installs the hooks of all lines for `hits` more hits each, or for ever if
// `hits` is 0.
void LineHits_arm(struct LineHits *lines, uint64_t hits);
// Removes the hooks of all lines.
void LineHits_disarm(struct LineHits *lines);
// Allows each line that has its hook `hits` hits from now on. If `hits` is 0,
// each line loses its hook at its next hit. Hooks that were installed for ever
// stay.
void LineHits_extend(struct LineHits *lines, uint64_t hits);
// Removes the hook of a line.
void LineHits_darken(const struct LineHits *lines, struct LineHit *line);
static inline void LineHits_lose(struct LineHits *lines, int64_t ticks)
{
    if (ticks > 0)
        Counter_add(&lines->lost, (uint64_t)ticks);
}

// Returns the share of one core's time from which rates are estimated. The
// function ran for the share `cpu` and waited for the share `wait`, of which
// `to_run` are waits for a CPU or for the GIL. Times between hits contain no
// waits of the part `to_run`, and only some of the other waits. Returns NaN if
// the other waits are too long.
double LineHits_share(double cpu, double wait, double to_run);
// Returns the line's hits per second. The rate is counted if the line always
// had its hook, otherwise estimated from `share` (LineHits_share). Returns NaN
// if the rate is not known. Before LineHits_rate, the thread that builds
// snapshots calls LineHits_read.
double LineHits_rate(const struct LineHits *lines, const struct LineHit *line,
                     double share, double hz);
// Computes the counted rates again if half a second has passed since the newest
// reading or the first hit.
void LineHits_read(struct LineHits *lines, uint64_t ticks, double hz);
