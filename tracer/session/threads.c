// SPDX-License-Identifier: MIT
#include "tracer/session/threads.h"
#include "ipc/base/heap.h"

#include <stdlib.h>
#include <string.h>

struct Rows {
    struct Snapshot *snapshot;
    struct Thread *threads;
    size_t count;
};

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

void Threads_fill(struct Snapshot *snapshot, struct Sampler *sampler,
                  struct ThreadTraces *traces)
{
    struct TracedThread *traced = NULL;
    uint64_t dropped = 0;
    long count = ThreadTraces_threads(traces, &traced, &dropped);
    size_t more = count > 0 ? (size_t)count : 0;
    struct Rows rows = {.snapshot = snapshot};
    bool *joined;

    snapshot->thread_count = snapshot->threads_dropped = 0;
    rows.threads =
        sampler ? Sampler_threads(sampler, snapshot, more)
                : Snapshot_alloc(snapshot, (more + 1) * sizeof *rows.threads);
    rows.count = snapshot->thread_count;
    joined = Heap_zeroed(rows.count + more + 1, sizeof *joined);
    snapshot->arena.failed |= count < 0 || !joined;
    for (size_t i = 0; rows.threads && joined && i < more; i++)
        add_traced(&rows, joined, &traced[i]);
    Heap_free(joined);
    Heap_free(traced);
    if (rows.count)
        qsort(rows.threads, rows.count, sizeof *rows.threads, living_first);
    snapshot->threads = rows.threads;
    snapshot->thread_count = rows.count;
    // The sampler and the thread records may have dropped the same threads, so
    // their numbers are not added.
    if (dropped > snapshot->threads_dropped)
        snapshot->threads_dropped = dropped;
}
