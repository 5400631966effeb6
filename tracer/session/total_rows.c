// SPDX-License-Identifier: MIT
#include "tracer/session/total_rows.h"
#include "ipc/base/heap.h"
#include "tracer/base/rcu.h"
#include "tracer/code/registry.h"
#include "tracer/session/latency_row.h"

#include <stdlib.h>

struct Candidate {
    struct Code *code;
    // Ticks of all calls, ended or not, plus the ticks for which other threads
    // waited for the GIL.
    double weight;
};

static double weight_of(const struct Code *code, const struct Moment *at)
{
    const struct Latency *latency = Code_latency(code);
    double blocked_ns =
        (double)Counter_get(&Share_parts(&code->share)->blocked.total_ns);
    double weight = blocked_ns / 1e9 * at->hz;

    if (latency) {
        weight += (double)Counter_get(&latency->wall);
        if (latency->look == at->registry->latencies.look)
            weight += latency->in_flight *
                      fmax((double)(int64_t)(at->ticks - latency->oldest), 1);
    }
    return weight;
}

static int by_weight(const void *a, const void *b)
{
    const struct Candidate *left = a, *right = b;

    return (left->weight < right->weight) - (left->weight > right->weight);
}

// Lists the functions that get a row, and stores their number in *count. The
// caller frees the list. Returns NULL if there is no memory.
static struct Candidate *list(const struct Moment *at, size_t *count)
{
    size_t room = atomic_load(&at->registry->count) + 1, used = 0;
    struct Candidate *all = Heap_alloc(room * sizeof *all);
    struct Code *code;

    Rcu_read_lock();
    for (code = Registry_first(at->registry); all && code && used < room;
         code = Registry_next(code)) {
        all[used] = (struct Candidate){code, weight_of(code, at)};
        used += all[used].weight > 0;
    }
    Rcu_read_unlock();
    if (used)
        qsort(all, used, sizeof *all, by_weight);
    *count = used < TOTAL_ROWS ? used : TOTAL_ROWS;
    return all;
}

static void fill(struct Snapshot *snapshot, struct Function *f,
                 struct Code *code, const struct Moment *at)
{
    const struct ShareParts *parts = Share_parts(&code->share);

    Record_clear(&FUNCTION_RECORD, f);
    f->id = code->hot.id;
    f->name = Snapshot_text(snapshot, code->who.name);
    f->file = Snapshot_text(snapshot, code->who.file);
    f->line = code->who.line;
    LatencyRow_fill(f, code, at);
    if (at->waits)
        f->gil_blocked_s = (double)Counter_get(&parts->blocked.total_ns) / 1e9;
}

void TotalRows_fill(struct Snapshot *snapshot, const struct Moment *at)
{
    size_t count = 0, i;
    struct Candidate *all = list(at, &count);
    struct Function *rows =
        Snapshot_alloc(snapshot, (count + 1) * sizeof *rows);

    for (i = 0; all && rows && i < count; i++)
        fill(snapshot, &rows[i], all[i].code, at);
    Heap_free(all);
    snapshot->functions = rows;
    snapshot->function_count = all && rows ? count : 0;
    snapshot->arena.failed |= !all;
}
