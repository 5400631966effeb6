// SPDX-License-Identifier: MIT
#include "tracer/code/line_hits.h"
#include "ipc/base/heap.h"
#include "tracer/base/lines.h"

#include <math.h>

#define READ_S 0.5 // Least number of seconds between two readings.
// Largest fraction of a function's time that may consist of waits and lost
// ticks.
#define UNKNOWN_MOST 0.3
#define TIMED_LEAST 8 // Least number of timed hits for a rate.

struct LineRange LineRange_of(const uint8_t *table, size_t size,
                              uint32_t first_line)
{
    struct LineReader reader;
    uint32_t least = UINT32_MAX, most = 0, count;

    LineReader_init(&reader, table, size, first_line);
    for (size_t unit = 0; reader.at < reader.end; unit = reader.behind) {
        uint32_t line = LineReader_line(&reader, unit);

        if (!line)
            continue;
        least = line < least ? line : least;
        most = line > most ? line : most;
    }
    count = most ? most - least + 1 : 0;
    return (struct LineRange){least, count < LINES_MOST ? count : LINES_MOST};
}

struct LineHits *LineHits_new(struct LineRange range, bool late)
{
    struct LineHits *lines =
        Heap_zeroed(1, sizeof *lines + range.count * sizeof *lines->lines);

    if (!lines)
        return NULL;
    lines->first = range.first;
    lines->count = range.count;
    for (uint32_t i = 0; i < range.count; i++) {
        Counter_set(&lines->lines[i].from, LINE_DARK);
        Counter_set_double(&lines->lines[i].per_s, NAN);
        lines->lines[i].floor = late;
    }
    return lines;
}

// Stores the time for which a line had its hook.
static void close(const struct LineHits *lines, struct LineHit *line)
{
    uint64_t from = Counter_get(&line->from);

    if (from == LINE_DARK)
        return;
    Counter_set(&line->ticks,
                Counter_get(&line->ticks) + Counter_get(&lines->ticks) - from);
    Counter_set(&line->from, LINE_DARK);
}

static void arm(struct LineHits *lines, struct LineHit *line, uint64_t hits)
{
    uint64_t stop = hits ? Counter_get(&line->hits) + hits : UINT64_MAX;

    close(lines, line);
    if (line->floor) {
        Counter_set(&line->ticks, Counter_get(&line->ticks) / 4 * 3);
        Counter_set(&line->timed, Counter_get(&line->timed) * 3 / 4);
    }
    Counter_set(&line->from, Counter_get(&lines->ticks));
    line->stop_at = stop > line->stop_at ? stop : line->stop_at;
}

void LineHits_arm(struct LineHits *lines, uint64_t hits)
{
    for (uint32_t i = 0; i < lines->count; i++)
        arm(lines, &lines->lines[i], hits);
}

void LineHits_disarm(struct LineHits *lines)
{
    for (uint32_t i = 0; i < lines->count; i++)
        LineHits_darken(lines, &lines->lines[i]);
}

void LineHits_extend(struct LineHits *lines, uint64_t hits)
{
    for (uint32_t i = 0; i < lines->count; i++) {
        struct LineHit *line = &lines->lines[i];

        if (line->stop_at != UINT64_MAX && !LineHit_is_dark(line))
            line->stop_at = hits ? Counter_get(&line->hits) + hits : 0;
    }
}

void LineHits_darken(const struct LineHits *lines, struct LineHit *line)
{
    if (LineHit_is_dark(line))
        return;
    close(lines, line);
    atomic_store_explicit(&line->floor, true, memory_order_relaxed);
}

double LineHits_share(double cpu, double wait, double to_run)
{
    wait = fmax(wait - to_run, 0);
    return wait <= UNKNOWN_MOST * (cpu + wait) ? cpu + wait : NAN;
}

double LineHits_rate(const struct LineHits *lines, const struct LineHit *line,
                     double share, double hz)
{
    uint64_t from = Counter_get(&line->from);
    double ticks = (double)Counter_get(&line->ticks);
    double timed = (double)Counter_get(&line->timed);
    bool known = (double)Counter_get(&lines->lost) <=
                 UNKNOWN_MOST * (double)Counter_get(&lines->ticks);

    if (!atomic_load_explicit(&line->floor, memory_order_relaxed))
        return Counter_get_double(&line->per_s);
    if (from != LINE_DARK)
        ticks += (double)(int64_t)(Counter_get(&lines->ticks) - from);
    return known && timed >= TIMED_LEAST && ticks > 0 && share > 0
               ? timed / ticks * hz * share
               : NAN;
}

void LineHits_read(struct LineHits *lines, uint64_t ticks, double hz)
{
    uint64_t begun = Counter_get(&lines->begun_ticks);
    uint64_t read = Counter_get(&lines->read_ticks);
    double s = (double)(int64_t)(ticks - (read ? read : begun)) / hz;

    if (!begun || s < READ_S)
        return;
    Counter_set(&lines->read_ticks, ticks);
    for (uint32_t i = 0; i < lines->count; i++) {
        struct LineHit *line = &lines->lines[i];
        uint64_t hits = Counter_get(&line->hits);
        double more = (double)(hits - Counter_get(&line->read_hits));

        Counter_set_double(&line->per_s, more / s);
        Counter_set(&line->read_hits, hits);
    }
}
