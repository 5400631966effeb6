// SPDX-License-Identifier: MIT
// A line's share is the function's share, multiplied by the fraction of the
// function's samples that found the line.
#include "tracer/session/line_rows.h"
#include "ipc/base/array.h"
#include "ipc/base/now.h"
#include "tracer/base/lines.h"
#include "tracer/base/rcu.h"
#include "tracer/code/registry.h"

#include <math.h>
#include <stdlib.h>

// Snapshots have lines for ten seconds after a request.
#define ASKED_NS 10000000000u
#define FUNCTIONS_MOST 64 // Functions whose lines are read.
#define ROWS_MOST 200

void LineRows_ask(struct LineRows *rows)
{
    atomic_store_explicit(&rows->asked_ns, Now_ns(CLOCK_MONOTONIC),
                          memory_order_relaxed);
}

// --- The functions -----------------------------------------------------------

struct Candidate {
    const struct Code *code;
    double cpu;   // Share of one core, without waits.
    double share; // LineHits_share
};

static struct Candidate candidate(const struct Code *code,
                                  const struct Moment *at)
{
    const struct ShareParts *parts = Share_parts(&code->share);
    struct Candidate result = {.code = code};

    if (!at->sees || !at->sampled)
        return result;
    result.cpu = ShareValue_window(&code->share.cpu, at->sampled);
    result.share =
        LineHits_share(result.cpu, ShareValue_window(&parts->wait, at->sampled),
                       ShareValue_window(&parts->wait_to_run, at->sampled));
    return result;
}

// Adds a function to the best candidates, or replaces the least of them. The
// best functions are those with the largest shares. Without shares, the oldest
// functions are kept.
static void offer(struct Candidate *best, size_t *count,
                  const struct Candidate *one)
{
    size_t least = 0;

    if (*count < FUNCTIONS_MOST) {
        best[(*count)++] = *one;
        return;
    }
    for (size_t i = 1; i < *count; i++)
        if (best[i].cpu <= best[least].cpu)
            least = i;
    if (one->cpu > best[least].cpu)
        best[least] = *one;
}

static size_t choose(struct Candidate best[FUNCTIONS_MOST],
                     const struct Moment *at)
{
    size_t count = 0;

    for (struct Code *code = Registry_first(at->registry); code;
         code = Registry_next(code)) {
        struct Candidate one;

        if (!Code_instruction_samples(code) && !Code_lines(code))
            continue;
        one = candidate(code, at);
        offer(best, &count, &one);
    }
    return count;
}

// --- The lines ---------------------------------------------------------------

struct LineList {
    struct LineRow *rows;
    size_t count, room;
};

static struct LineRow *add(struct LineList *list)
{
    return ARRAY_GROW(list->rows, list->count, list->room, 256)
               ? &list->rows[list->count++]
               : NULL;
}

// Adds up the samples of each line. The samples of the line range.first + i are
// in samples[i]. Returns the number of samples of all lines.
static uint64_t sum_samples(const struct Code *code, struct LineRange range,
                            uint64_t *samples)
{
    const _Atomic uint32_t *of = Code_instruction_samples(code);
    struct LineReader reader;
    uint32_t before = UINT32_MAX;
    uint64_t all = 0;

    LineReader_init(&reader, code->who.line_table, code->who.line_table_size,
                    code->who.line);
    for (uint32_t unit = 0; of && unit < code->layout.unit_count; unit++) {
        uint32_t number = code->layout.units[unit].number;
        uint32_t line = LineReader_line(&reader, unit);
        uint32_t count;

        if (number == before || !line || line - range.first >= range.count)
            continue;
        before = number;
        count = atomic_load_explicit(&of[number], memory_order_relaxed);
        samples[line - range.first] += count;
        all += count;
    }
    return all;
}

// Fills in the hits of a line in its row, which are null if they are not known.
// `share` is the result of LineHits_share.
static void count_hits(struct LineRow *row, const struct Code *code,
                       double share, const struct Moment *at)
{
    struct LineHits *lines = Code_lines(code);
    const struct LineHit *line = LineHits_at(lines, row->line);

    if (!line)
        return;
    LineHits_read(lines, at->ticks, at->hz);
    row->hits = Counter_get(&line->hits);
    row->hits_exact = !atomic_load_explicit(&line->floor, memory_order_relaxed);
    row->hits_per_s = LineHits_rate(lines, line, share, at->hz);
}

static bool add_lines(struct LineList *list, const struct Candidate *from,
                      const struct Moment *at)
{
    const struct Code *code = from->code;
    struct LineRange range = Code_line_range(code);
    uint64_t *samples = Heap_zeroed(range.count + 1, sizeof *samples), all;
    bool whole = true;

    if (!samples)
        return false;
    all = sum_samples(code, range, samples);
    for (uint32_t i = 0; whole && i < range.count; i++) {
        struct LineRow row, *to;

        Record_clear(&LINE_RECORD, &row);
        row.line = range.first + i;
        row.id = code->hot.id;
        row.samples = at->sees ? samples[i] : NULL_U64;
        if (all && at->sees)
            row.share = from->cpu * (double)samples[i] / (double)all;
        count_hits(&row, code, from->share, at);
        if (!row.hits)
            // The line has no hits if it is that of the function's first
            // instruction, for which CPython reports no event.
            row.hits = row.hits_exact = NULL_U64, row.hits_per_s = NAN;
        if (!samples[i] && row.hits == NULL_U64)
            continue;
        to = add(list);
        whole = to;
        if (to)
            *to = row;
    }
    Heap_free(samples);
    return whole;
}

// --- The snapshot ------------------------------------------------------------

static double number(double value)
{
    return isnan(value) ? 0 : value;
}

static int hottest_first(const void *left, const void *right)
{
    const struct LineRow *a = left, *b = right;
    double shares = number(b->share) - number(a->share);
    uint64_t one = a->hits == NULL_U64 ? 0 : a->hits;
    uint64_t two = b->hits == NULL_U64 ? 0 : b->hits;

    if (shares != 0)
        return shares > 0 ? 1 : -1;
    if (a->samples != b->samples)
        return a->samples < b->samples ? 1 : -1;
    if (one != two)
        return one < two ? 1 : -1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

// Copies the hottest lines into the snapshot. The function's name and file are
// copied for each line.
static void publish(struct LineList *list, struct Snapshot *snapshot,
                    const struct Moment *at)
{
    size_t count = list->count < ROWS_MOST ? list->count : ROWS_MOST;
    struct LineRow *rows = Snapshot_alloc(snapshot, (count + 1) * sizeof *rows);

    if (!rows)
        return;
    qsort(list->rows, list->count, sizeof *list->rows, hottest_first);
    for (size_t i = 0; i < count; i++) {
        const struct Code *code =
            Registry_by_id(at->registry, (uint32_t)list->rows[i].id);

        rows[i] = list->rows[i];
        if (!code)
            continue;
        rows[i].function = Snapshot_text(snapshot, code->who.name);
        rows[i].file = Snapshot_text(snapshot, code->who.file);
    }
    snapshot->lines = rows;
    snapshot->line_count = count;
}

void LineRows_fill(const struct LineRows *rows, struct Snapshot *snapshot,
                   const struct Moment *at)
{
    uint64_t asked_ns =
        atomic_load_explicit(&rows->asked_ns, memory_order_relaxed);
    struct Candidate best[FUNCTIONS_MOST];
    struct LineList list = {0};
    bool whole = true;
    size_t count;

    if (!asked_ns || Now_ns(CLOCK_MONOTONIC) - asked_ns > ASKED_NS)
        return;
    Rcu_read_lock();
    count = choose(best, at);
    for (size_t i = 0; whole && i < count; i++)
        whole = add_lines(&list, &best[i], at);
    if (list.count)
        publish(&list, snapshot, at);
    Rcu_read_unlock();
    Heap_free(list.rows);
    snapshot->arena.failed |= !whole;
}
