// SPDX-License-Identifier: MIT
// See flame_history.h.
#include "tui/flame_history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define APART_S 0.9 // between two moments, so that a minute has room
#define LONGEST_S 60.0

struct FlameTotal {
    uint64_t path;
    double cpu_ns;
    double c_ns;
};

static uint64_t step(uint64_t path, uint64_t id)
{
    uint64_t hash = (path ^ id) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

// One path a row. NULL: memory, or rows that are none.
static uint64_t *hash_paths(const struct FlameTable *table)
{
    uint64_t *paths = calloc(table->row_count + 1, sizeof *paths);
    for (size_t i = 0; paths && i < table->row_count; i++) {
        const struct FlameRow *row = &table->rows[i];
        if (i && row->parent >= i) {
            free(paths);
            return NULL;
        }
        paths[i] = i ? step(paths[row->parent], row->id) : 1;
    }
    return paths;
}

static double known(uint64_t ns)
{
    return ns == NULL_U64 ? 0 : (double)ns;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = ((const struct FlameTotal *)left)->path;
    uint64_t b = ((const struct FlameTotal *)right)->path;
    return (a > b) - (a < b);
}

static bool has_totals(const struct FlameTable *table)
{
    return table->row_count && table->rows[0].cpu_ns != NULL_U64;
}

// Without memory an empty one: that of the start.
static struct FlameMoment moment_of(const struct FlameTable *table)
{
    struct FlameMoment moment = {table->kept_s, table->samples, NULL, 0};
    uint64_t *paths = hash_paths(table);
    struct FlameTotal *totals = calloc(table->row_count + 1, sizeof *totals);
    if (!paths || !totals) {
        free(paths);
        free(totals);
        return (struct FlameMoment){0};
    }
    for (size_t i = 0; i < table->row_count; i++)
        totals[i] = (struct FlameTotal){paths[i], known(table->rows[i].cpu_ns),
                                        known(table->rows[i].c_ns)};
    qsort(totals, table->row_count, sizeof *totals, compare);
    moment.totals = totals;
    moment.count = table->row_count;
    free(paths);
    return moment;
}

static void forget_oldest(struct FlameHistory *history)
{
    free(history->moments[0].totals);
    memmove(history->moments, history->moments + 1,
            --history->count * sizeof history->moments[0]);
}

void FlameHistory_note(struct FlameHistory *history,
                       const struct FlameTable *table)
{
    double newest =
        history->count ? history->moments[history->count - 1].at_s : -INFINITY;
    if (!has_totals(table) || !isfinite(table->kept_s))
        return;
    if (table->kept_s < newest || table->kept_s < history->mark.at_s) {
        FlameHistory_release(history);
        newest = -INFINITY;
    }
    if (table->kept_s < newest + APART_S)
        return;
    // One that is as old as the longest period stays.
    while (history->count == FLAME_MOMENTS ||
           (history->count > 1 &&
            history->moments[1].at_s <= table->kept_s - LONGEST_S))
        forget_oldest(history);
    history->moments[history->count++] = moment_of(table);
}

void FlameHistory_mark(struct FlameHistory *history,
                       const struct FlameTable *table)
{
    free(history->mark.totals);
    history->mark =
        has_totals(table) ? moment_of(table) : (struct FlameMoment){0};
}

// The newest that is as old as the period, nearly, or the oldest there is.
static const struct FlameMoment *begin_of(const struct FlameHistory *history,
                                          double now_s, double s)
{
    size_t i = history->count;
    while (i-- > 1)
        if (history->moments[i].at_s <= now_s - s + APART_S / 2)
            break;
    return history->count ? &history->moments[i] : &history->mark;
}

static struct FlameTotal total_at(const struct FlameMoment *moment,
                                  uint64_t path)
{
    struct FlameTotal key = {.path = path};
    const struct FlameTotal *found =
        moment->count
            ? bsearch(&key, moment->totals, moment->count, sizeof key, compare)
            : NULL;
    return found ? *found : key;
}

struct FlameShare *FlameHistory_shares(const struct FlameHistory *history,
                                       const struct FlameTable *table,
                                       enum FlamePeriod period, double *s,
                                       double *samples)
{
    const struct FlameMoment *then = &history->mark;
    struct FlameShare *shares;
    uint64_t *paths;
    if (period == FLAME_LATELY || !has_totals(table))
        return NULL;
    if (period != FLAME_SINCE)
        then = begin_of(history, table->kept_s, period == FLAME_5_S ? 5 : 60);
    *s = table->kept_s - then->at_s;
    if (!(*s > 0))
        return NULL;
    paths = hash_paths(table);
    shares = calloc(table->row_count + 1, sizeof *shares);
    if (!paths || !shares) {
        free(paths);
        free(shares);
        return NULL;
    }
    *samples = table->samples > then->samples
                   ? (double)(table->samples - then->samples)
                   : 0;
    for (size_t i = 0; i < table->row_count; i++) {
        const struct FlameRow *row = &table->rows[i];
        struct FlameTotal before = total_at(then, paths[i]);
        // Less than before: a path of its own that counts for its caller now.
        shares[i].self = fmax(known(row->cpu_ns) - before.cpu_ns, 0) / *s / 1e9;
        shares[i].in_c = fmax(known(row->c_ns) - before.c_ns, 0) / *s / 1e9;
    }
    free(paths);
    return shares;
}

void FlameHistory_release(struct FlameHistory *history)
{
    while (history->count)
        free(history->moments[--history->count].totals);
    free(history->mark.totals);
    history->mark = (struct FlameMoment){0};
}
