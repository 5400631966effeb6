// SPDX-License-Identifier: MIT
#include "tracer/session/loop_rows.h"

#include <stdlib.h>

// Returns the name of the running thread with this id, or of the last one that
// has ended, or NULL.
static const char *name_of(const struct Snapshot *snapshot, uint64_t tid)
{
    const char *name = NULL;

    for (size_t i = 0; i < snapshot->thread_count; i++) {
        const struct Thread *thread = &snapshot->threads[i];

        if (thread->tid == tid)
            name = thread->name;
        if (thread->tid == tid && thread->ended != 1)
            break;
    }
    return name;
}

static void add_loops(struct Snapshot *snapshot, struct EventLoops *loops,
                      double now_s)
{
    bool seen = Counter_get(&loops->switches) == 0;
    unsigned most = loops->count;
    struct LoopRow *rows = Snapshot_alloc(snapshot, (most + 1) * sizeof *rows);

    if (!rows)
        return;
    snapshot->loops = rows;
    for (unsigned i = 0; i < most; i++) {
        struct EventLoop *loop = &loops->loops[i];
        struct LoopRates rates;

        if (!atomic_load(&loop->used))
            continue;
        rates = EventLoop_rates(loops, loop, now_s);
        rows[snapshot->loop_count++] = (struct LoopRow){
            .thread = name_of(snapshot, (uint64_t)loop->tid),
            .lag_s = rates.lag_s,
            .steps_per_s = rates.steps_per_s,
            .tid = (uint64_t)loop->tid,
            .steps =
                seen ? Counter_get(&loop->steps) - loop->first_steps : NULL_U64,
            .timers = seen ? Counter_get(&loop->timers) - loop->first_timers
                           : NULL_U64,
            .late_s = seen ? (double)(Counter_get(&loop->late_ns) -
                                      loop->first_late_ns) /
                                 1e9
                           : NAN,
        };
    }
}

// Returns a copy of the text, or NULL if the text is empty.
static const char *text_or_null(struct Snapshot *snapshot, const char *text)
{
    return *text ? Snapshot_text(snapshot, text) : NULL;
}

static struct StallRow row_of(struct Snapshot *snapshot,
                              const struct Stall *stall, double started_s,
                              double hz)
{
    const struct StallPlace *place = &stall->place;
    uint64_t tid = (uint64_t)stall->tid;

    return (struct StallRow){
        .at_s = stall->at_s - started_s,
        .seconds = (double)(stall->ended - stall->began) / hz,
        .has_gil = stall->has_gil,
        .thread = stall->has_gil ? name_of(snapshot, tid)
                                 : text_or_null(snapshot, stall->thread),
        .task = text_or_null(snapshot, stall->task),
        .function = text_or_null(snapshot, place->name),
        .file = text_or_null(snapshot, place->file),
        .line = place->line ? place->line : NULL_U64,
        .stack = text_or_null(snapshot, place->stack),
        .tid = tid,
        .id = place->function ? place->function : NULL_U64,
    };
}

static int compare(const void *left, const void *right)
{
    const struct StallRow *a = left, *b = right;

    return (a->at_s > b->at_s) - (a->at_s < b->at_s);
}

static void add_stalls(struct Snapshot *snapshot, struct EventLoops *loops,
                       double started_s)
{
    uint64_t count, all;
    struct StallRow *rows;

    pthread_mutex_lock(&loops->mutex);
    all = Counter_get(&loops->stall_count);
    count = all < STALLS ? all : STALLS;
    rows = Snapshot_alloc(snapshot, (count + 1) * sizeof *rows);
    for (uint64_t i = 0; rows && i < count; i++)
        rows[i] = row_of(snapshot, &loops->stalls[(all - count + i) % STALLS],
                         started_s, loops->hz);
    if (rows)
        qsort(rows, count, sizeof *rows, compare);
    snapshot->stalls = rows;
    snapshot->stall_count = rows ? count : 0;
    snapshot->stalls_total = EventLoops_are_off(loops) ? NULL_U64 : all;
    snapshot->stall_limit_s = (double)loops->limit / loops->hz;
    pthread_mutex_unlock(&loops->mutex);
}

void LoopRows_fill(struct Snapshot *snapshot, struct EventLoops *loops,
                   double now_s, double started_s)
{
    add_loops(snapshot, loops, now_s);
    add_stalls(snapshot, loops, started_s);
}
