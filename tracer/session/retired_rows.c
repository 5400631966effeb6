// SPDX-License-Identifier: MIT
#include "tracer/session/retired_rows.h"
#include "tracer/session/ranking.h"
#include "tracer/session/session.h"

#include <math.h>
#include <stdlib.h>

static void fill_row(struct RetiredRow *row, const struct RetiredTotals *totals,
                     const struct Moment *at)
{
    bool sampled = at->sampled && at->sampled->ns > 0;

    row->line = NULL_U64;
    row->objects = totals->objects;
    row->calls = totals->calls;
    row->resumptions = totals->resumed;
    row->calls_exact = !totals->inexact;
    row->self_cycles = totals->self_calls ? totals->self_cycles : NULL_U64;
    row->waited_cycles = totals->self_calls ? totals->waited_cycles : NULL_U64;
    row->total_cycles = totals->self_calls || totals->total_cycles
                            ? totals->total_cycles
                            : NULL_U64;
    row->run_share = sampled ? (double)totals->cpu_ns / at->sampled->ns : NAN;
    row->samples = sampled ? totals->samples : NULL_U64;
    row->run_samples = sampled ? totals->run_samples : NULL_U64;
}

static int costlier_first(const void *left, const void *right)
{
    const struct Ranked a = {.retired = left}, b = {.retired = right};

    return Ranking_compare(&a, &b);
}

void RetiredRows_fill(struct Snapshot *snapshot, const struct Moment *at)
{
    const struct Retired *retired = &at->session->retired;
    struct RetiredRow *rows =
        Snapshot_alloc(snapshot, (retired->count + 1) * sizeof *rows);
    size_t i;

    if (!rows)
        return;
    for (i = 0; i < retired->count; i++) {
        const struct RetiredFunction *function = &retired->functions[i];

        fill_row(&rows[i], &function->totals, at);
        rows[i].name = Snapshot_text(snapshot, function->name);
        rows[i].file = Snapshot_text(snapshot, function->file);
        rows[i].line = function->line;
    }
    qsort(rows, i, sizeof *rows, costlier_first);
    if (retired->others.objects) {
        rows[i].name = Snapshot_text(snapshot, "(others)");
        fill_row(&rows[i++], &retired->others, at);
    }
    snapshot->retired = rows;
    snapshot->retired_count = i;
    snapshot->events += retired->events;
}
