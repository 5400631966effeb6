// SPDX-License-Identifier: MIT
#include "tracer/session/threads.h"
#include "ipc/base/heap.h"

#include <stdlib.h>
#include <string.h>

struct Rows {
    struct Snapshot *snapshot;
    struct Thread *threads;
    bool gil, waits; // Results of Sampler_knows_gil and Sampler_knows_waits.
    // Number of rows that come from the sampler. The rows from the sampler come
    // first.
    size_t sampled;
    size_t count;
};

static void add_functions(struct Rows *rows, struct Thread *row,
                          const struct ThreadShares *shares)
{
    size_t count = shares->function_count, i;
    struct Caller *functions;

    if (count == 0)
        return;
    functions = Snapshot_alloc(rows->snapshot, count * sizeof *functions);
    for (i = 0; functions && i < count; i++) {
        const struct BreakdownRow *from = &shares->functions[i];

        functions[i] =
            (struct Caller){from->id ? from->id : NULL_U64, from->share};
    }
    row->functions = functions;
    row->function_count = functions ? count : 0;
}

// Adds a row for a thread from the sampler's list. The name is null if the
// sampler does not know it yet.
static void add_shares(struct Rows *rows, const struct ThreadShares *shares)
{
    struct Thread *row = &rows->threads[rows->count++];

    *row = (struct Thread){
        .tid = (uint64_t)shares->tid,
        .name =
            *shares->name ? Snapshot_text(rows->snapshot, shares->name) : NULL,
        .cpu_share = shares->cpu_share,
        .wait_share = shares->wait_share,
        .samples = shares->samples,
        .cpu_s = shares->cpu_s,
        .ended = shares->ended,
        .gil_held_share = rows->gil ? shares->gil_held_share : NULL_F64,
        .gil_wait_share = rows->waits ? shares->gil_wait_share : NULL_F64,
        .gil_held_s = rows->gil ? shares->gil_held_s : NULL_F64,
        .gil_wait_s = rows->waits ? shares->gil_wait_s : NULL_F64,
    };
    add_functions(rows, row, shares);
}

// Returns the row to which a thread record belongs, or NULL. The row was made
// for the sampler's list, or for an earlier record of the same thread. A thread
// gets a second record if it runs Python code again after its first record has
// ended. The kernel uses thread ids again, so a different name means another
// thread.
static struct Thread *row_of(struct Rows *rows, const bool *joined,
                             const struct TracedThread *traced)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct Thread *row = &rows->threads[i];

        if (row->tid == (uint64_t)traced->tid &&
            // A row with a thread record has a name, unless memory is out.
            (!joined[i] || (row->name && strcmp(row->name, traced->name) == 0)))
            return row;
    }
    return NULL;
}

static void add_traced(struct Rows *rows, bool *joined,
                       const struct TracedThread *traced)
{
    struct Thread *row = row_of(rows, joined, traced);
    // The CPU time in a thread record is exact up to the thread's end.
    double cpu_s = (double)traced->cpu_ns / 1e9;

    if (!row) {
        row = &rows->threads[rows->count++];
        *row = (struct Thread){
            .tid = (uint64_t)traced->tid,
            .cpu_share = NULL_F64,
            .wait_share = NULL_F64,
            .samples = NULL_U64,
            .gil_held_share = NULL_F64,
            .gil_wait_share = NULL_F64,
            .gil_held_s = NULL_F64,
            .gil_wait_s = NULL_F64,
        };
    }
    if (!row->name)
        row->name = Snapshot_text(rows->snapshot, traced->name);
    if (joined[row - rows->threads]) {
        row->cpu_s += cpu_s;
        row->ended = row->ended && traced->ended;
    } else {
        row->cpu_s = cpu_s;
        row->ended = traced->ended;
    }
    joined[row - rows->threads] = true;
}

static int living_first(const void *a, const void *b)
{
    const struct Thread *one = a, *other = b;

    if (one->ended != other->ended)
        return one->ended ? 1 : -1;
    return one->tid < other->tid ? -1 : one->tid > other->tid;
}

static void fill(struct Rows *rows, const struct ThreadShares *shares,
                 const struct TracedThread *traced, size_t traced_count)
{
    bool *joined =
        Heap_zeroed(rows->sampled + traced_count + 1, sizeof *joined);
    size_t i;

    rows->threads =
        Snapshot_alloc(rows->snapshot, (rows->sampled + traced_count + 1) *
                                           sizeof *rows->threads);
    rows->snapshot->arena.failed |= !joined;
    for (i = 0; joined && rows->threads && i < rows->sampled; i++)
        add_shares(rows, &shares[i]);
    for (i = 0; joined && rows->threads && i < traced_count; i++)
        add_traced(rows, joined, &traced[i]);
    Heap_free(joined);
}

void Threads_fill(struct Snapshot *snapshot, struct Sampler *sampler,
                  struct ThreadTraces *traces)
{
    struct ThreadShares *shares = NULL;
    struct TracedThread *threads = NULL;
    uint64_t dropped = 0, dropped_too = 0;
    long sampled = sampler ? Sampler_threads(sampler, &shares) : 0;
    long count = ThreadTraces_threads(traces, &threads, &dropped);
    struct Rows rows = {.snapshot = snapshot,
                        .sampled = (size_t)sampled,
                        .gil = sampler && Sampler_knows_gil(sampler),
                        .waits = sampler && Sampler_knows_waits(sampler)};

    if (sampled >= 0 && count >= 0)
        fill(&rows, shares, threads, (size_t)count);
    else
        snapshot->arena.failed = true;
    if (sampler)
        dropped_too = Sampler_threads_dropped(sampler);
    Heap_free(shares);
    Heap_free(threads);
    if (rows.count)
        qsort(rows.threads, rows.count, sizeof *rows.threads, living_first);
    snapshot->threads = rows.threads;
    snapshot->thread_count = rows.count;
    // The sampler and the thread records may have dropped the same threads, so
    // their numbers are not added.
    snapshot->threads_dropped = dropped > dropped_too ? dropped : dropped_too;
}
