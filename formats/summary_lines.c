// SPDX-License-Identifier: MIT
#include "formats/summary_lines.h"
#include "ipc/base/heap.h"

#include <stdlib.h>

#define ROWS_MOST 200 // A live process sends at most ROWS_MOST lines.

static int by_line(const void *left, const void *right)
{
    const struct LineRow *a = left, *b = right;

    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static int by_share(const void *left, const void *right)
{
    const struct LineRow *a = left, *b = right;

    return a->share != b->share ? (a->share < b->share) - (a->share > b->share)
                                : by_line(left, right);
}

// Makes one row for each line from the sums of instructions. Returns the number
// of rows.
static size_t add_up(struct LineRow *rows, const struct SumTable *instructions,
                     double length_ns)
{
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < instructions->count; i++) {
        const struct Sum *sum = &instructions->sums[i];
        uint32_t line = (uint32_t)sum->what;

        if (!line)
            continue;
        Record_clear(&LINE_RECORD, &rows[count]);
        rows[count].id = Sum_first(sum);
        rows[count].line = line;
        rows[count].samples = sum->samples;
        rows[count++].share = sum->ns / length_ns;
    }
    qsort(rows, count, sizeof *rows, by_line);
    for (size_t i = 0; i < count; i++)
        if (kept && by_line(&rows[kept - 1], &rows[i]) == 0) {
            rows[kept - 1].samples += rows[i].samples;
            rows[kept - 1].share += rows[i].share;
        } else {
            rows[kept++] = rows[i];
        }
    qsort(rows, kept, sizeof *rows, by_share);
    return kept;
}

static void fill_hits(struct LineRow *row, const struct Snapshot *final)
{
    for (size_t i = 0; final && i < final->line_count; i++) {
        const struct LineRow *known = &final->lines[i];

        if (known->id != row->id || known->line != row->line)
            continue;
        row->hits = known->hits;
        row->hits_exact = known->hits_exact;
        if (row->hits != NULL_U64 && row->hits_exact == 1)
            row->hits_per_s = (double)row->hits / final->uptime_s;
    }
}

void SummaryLines_fill(struct Snapshot *out, const struct StretchSums *sums,
                       const struct Snapshot *final, double length_ns)
{
    size_t count = sums->instructions.count;
    struct LineRow *all = Heap_alloc((count + 1) * sizeof *all), *rows;

    count = all ? add_up(all, &sums->instructions, length_ns) : 0;
    count = count < ROWS_MOST ? count : ROWS_MOST;
    rows = Snapshot_alloc(out, (count + 1) * sizeof *rows);
    for (size_t i = 0; rows && i < count; i++) {
        struct PerfettoName name = {0};

        rows[i] = all[i];
        StretchSums_name(sums, (uint32_t)rows[i].id, &name);
        rows[i].function = Snapshot_text(out, name.name);
        rows[i].file = Snapshot_text(out, name.file);
        fill_hits(&rows[i], final);
    }
    out->lines = rows;
    out->line_count = rows ? count : 0;
    Heap_free(all);
}
