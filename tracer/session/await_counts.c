// SPDX-License-Identifier: MIT
#include "tracer/session/await_counts.h"
#include "ipc/base/heap.h"
#include "tracer/base/rcu.h"
#include "tracer/session/engine.h"

#include <math.h>
#include <string.h>

// Mean age in seconds of the walks over asyncio's tasks whose results are in
// the sums.
#define MEAN_S 10.0
// If the mean number of a function's suspended calls is less than LEAST, the
// function is forgotten.
#define LEAST 1e-3

// --- What a function awaits --------------------------------------------------

// Coroutine functions that only wait, and never await the program's own code.
// `name` is the qualified name, or its beginning if it ends with a dot. An
// empty name means any function of the file.
static const struct {
    const char *file, *name;
    enum AwaitKind kind;
} RULES[] = {
    {"asyncio/tasks.py", "sleep", AWAITS_SLEEP},
    {"asyncio/tasks.py", "wait", AWAITS_TASK},
    {"asyncio/tasks.py", "_wait", AWAITS_TASK},
    {"asyncio/tasks.py", "_cancel_and_wait", AWAITS_TASK},
    {"asyncio/tasks.py", "as_completed.<locals>._wait_for_one", AWAITS_TASK},
    {"asyncio/tasks.py", "_AsCompletedIterator.", AWAITS_TASK},
    {"asyncio/taskgroups.py", "", AWAITS_TASK},
    {"asyncio/queues.py", "", AWAITS_QUEUE},
    {"asyncio/locks.py", "", AWAITS_LOCK},
    {"asyncio/threads.py", "", AWAITS_THREAD},
    {"asyncio/streams.py", "", AWAITS_SOCKET},
    {"asyncio/selector_events.py", "", AWAITS_SOCKET},
    {"asyncio/unix_events.py", "_UnixSelectorEventLoop.", AWAITS_SOCKET},
    {"asyncio/base_events.py", "Server.", AWAITS_SOCKET},
    {"asyncio/base_events.py", "BaseEventLoop.getaddrinfo", AWAITS_SOCKET},
    {"asyncio/base_events.py", "BaseEventLoop.create_connection",
     AWAITS_SOCKET},
    {"anyio/streams/memory.py", "", AWAITS_QUEUE},
    {"anyio/_backends/_asyncio.py", "SocketStream.", AWAITS_SOCKET},
    {"anyio/_backends/_asyncio.py", "UNIXSocketStream.", AWAITS_SOCKET},
    {"anyio/_backends/_asyncio.py", "TaskGroup.__aexit__", AWAITS_TASK},
    {"anyio/_backends/_asyncio.py", "AsyncIOBackend.run_sync_in_worker_thread",
     AWAITS_THREAD},
    {"anyio/_backends/_asyncio.py", "Event.wait", AWAITS_LOCK},
    {"anyio/_backends/_asyncio.py", "Lock.", AWAITS_LOCK},
    {"anyio/_backends/_asyncio.py", "Semaphore.", AWAITS_LOCK},
    {"anyio/_backends/_asyncio.py", "CapacityLimiter.", AWAITS_LOCK},
    {"aiohttp/streams.py", "", AWAITS_SOCKET},
};

// Returns true if the end of `path` is `file`, in any folder.
static bool is_file(const char *path, const char *file)
{
    size_t size = strlen(path), least = strlen(file);

    return size > least && path[size - least - 1] == '/' &&
           strcmp(path + size - least, file) == 0;
}

static bool has_name(const char *name, const char *wanted)
{
    size_t size = strlen(wanted);
    bool beginning = !size || wanted[size - 1] == '.';

    return beginning ? strncmp(name, wanted, size) == 0
                     : strcmp(name, wanted) == 0;
}

enum AwaitKind AwaitKind_of(const char *file, const char *name)
{
    for (size_t i = 0; file && i < sizeof RULES / sizeof *RULES; i++)
        if (has_name(name, RULES[i].name) && is_file(file, RULES[i].file))
            return RULES[i].kind;
    return AWAIT_UNKNOWN;
}

// --- A walk ------------------------------------------------------------------

static void clear(struct AwaitCount *count)
{
    memset(count->found, 0, sizeof count->found);
    count->aged = 0;
    count->oldest_s = 0;
}

void AwaitCounts_begin(struct AwaitCounts *counts)
{
    for (unsigned i = 0; i < counts->count; i++)
        clear(&counts->all[i]);
}

struct AwaitCount *AwaitCounts_find(struct AwaitCounts *counts,
                                    const struct TaskLine *at)
{
    struct AwaitCount *count;

    if (!counts->all)
        counts->all = Heap_zeroed(AWAIT_FUNCTIONS, sizeof *counts->all);
    if (!counts->all)
        return NULL;
    for (unsigned i = 0; i < counts->count; i++) {
        const struct TaskLine *seen = &counts->all[i].at;

        if (seen->function == at->function &&
            (at->function || TaskLine_is_same(seen, at)))
            return &counts->all[i];
    }
    if (counts->count == AWAIT_FUNCTIONS)
        return NULL;
    count = &counts->all[counts->count];
    memset(count, 0, sizeof *count);
    if (!TaskLine_copy(&count->at, at))
        return NULL;
    count->kind = AwaitKind_of(at->file, at->name);
    counts->count++;
    return count;
}

void AwaitCounts_add(struct AwaitCounts *counts,
                     struct AwaitCount *const *chain, unsigned depth,
                     enum AwaitKind otherwise)
{
    enum AwaitKind kind = otherwise == AWAITS_LOOP ? otherwise : AWAIT_UNKNOWN;

    counts->chains++;
    for (unsigned i = 0; i < depth && kind == AWAIT_UNKNOWN; i++)
        kind = chain[i] ? chain[i]->kind : AWAIT_UNKNOWN;
    if (kind == AWAIT_UNKNOWN)
        kind = otherwise;
    for (unsigned i = 0; i < depth; i++) {
        // A function counts once for each chain of coroutines, even if it is
        // there several times.
        if (!chain[i] || chain[i]->chain == counts->chains)
            continue;
        chain[i]->chain = counts->chains;
        chain[i]->found[kind]++;
    }
}

static void tell(const struct AwaitCount *count, struct Engine *engine,
                 double valid_s)
{
    struct Code *code = Registry_by_id(engine->registry, count->at.function);
    const struct Latency *latency = code ? Code_latency(code) : NULL;
    double hz = Clock_hz(&engine->clock);
    uint64_t now = Clock_read(&engine->clock);
    uint32_t calls = 0;

    for (unsigned i = 0; i < AWAIT_KINDS; i++)
        calls += count->found[i];
    if (code && count->own &&
        (calls || (latency && Counter_get(&latency->suspended))))
        Latency_suspended(code, calls, (uint64_t)(count->oldest_s * hz),
                          now + (uint64_t)(valid_s * hz));
}

void AwaitCounts_tell(const struct AwaitCounts *counts, struct Engine *engine,
                      double valid_s)
{
    Counting_begin(&engine->counting);
    Rcu_read_lock();
    for (unsigned i = 0; i < counts->count; i++)
        if (counts->all[i].at.function)
            tell(&counts->all[i], engine, valid_s);
    Rcu_read_unlock();
    Counting_end(&engine->counting);
}

// Adds the newest walk's numbers to the sums of a function. Returns the mean
// number of the function's suspended calls.
static double end_count(struct AwaitCount *count, double kept, double weight)
{
    double sum = 0;

    for (unsigned i = 0; i < AWAIT_KINDS; i++) {
        count->sums[i] = count->sums[i] * kept + count->found[i];
        sum += count->sums[i];
    }
    clear(count);
    return sum / weight;
}

void AwaitCounts_end(struct AwaitCounts *counts, double now_s)
{
    double kept = exp(-(now_s - counts->ended_s) / MEAN_S);
    unsigned left = 0;

    counts->weight = counts->weight * kept + 1;
    counts->ended_s = now_s;
    for (unsigned i = 0; i < counts->count; i++) {
        struct AwaitCount *count = &counts->all[i];

        if (end_count(count, kept, counts->weight) < LEAST)
            TaskLine_drop(&count->at);
        else if (left++ < i)
            counts->all[left - 1] = *count;
    }
    counts->count = left;
}

// --- The table ---------------------------------------------------------------

static void fill(struct Arena *arena, struct AwaitRow *row,
                 const struct AwaitCount *count, double weight)
{
    const struct TaskLine *at = &count->at;

    *row = (struct AwaitRow){
        .id = at->function ? at->function : NULL_U64,
        .name = Arena_text(arena, at->name),
        .file = Arena_text(arena, at->file),
        .line = at->line ? at->line : NULL_U64,
    };
    for (unsigned i = 0; i < AWAIT_KINDS; i++)
        row->of[i] = count->sums[i] / weight;
}

void AwaitCounts_fill(const struct AwaitCounts *counts, struct TaskTable *table)
{
    struct AwaitRow *rows;

    if (!(counts->weight > 0)) // No walk has ended yet.
        return;
    rows = Arena_alloc(&table->arena, (counts->count + 1) * sizeof *rows);
    for (unsigned i = 0; rows && i < counts->count; i++)
        fill(&table->arena, &rows[i], &counts->all[i], counts->weight);
    if (table->arena.failed)
        return;
    table->awaits = rows;
    table->await_count = counts->count;
}

void AwaitCounts_release(struct AwaitCounts *counts)
{
    for (unsigned i = 0; i < counts->count; i++)
        TaskLine_drop(&counts->all[i].at);
    Heap_free(counts->all);
    *counts = (struct AwaitCounts){.all = NULL};
}
