// SPDX-License-Identifier: MIT
#include "tracer/sample/sampled_threads.h"
#include "ipc/base/heap.h"
#include "tracer/sample/other_threads.h"

#include <errno.h>
#include <string.h>

// A list of Python threads, made by a holder of the GIL.
struct OfferedThreads {
    size_t count;
    struct ListedThread threads[];
};

int SampledThreads_init(struct SampledThreads *threads)
{
    pthread_mutex_init(&threads->lock, NULL);
    threads->incoming = NULL;
    memset(&threads->ended, 0, sizeof(threads->ended));
    threads->table = Heap_zeroed(1, sizeof(struct SampledThreadTable));
    return threads->table ? 0 : -ENOMEM;
}

static void table_free(struct SampledThreadTable *table)
{
    for (size_t i = 0; i < table->count; i++)
        Heap_free(table->threads[i]);
    Heap_free(table);
}

void SampledThreads_release(struct SampledThreads *threads)
{
    // If the process forks while the parent's sampler is making a new table,
    // the child finds only the old table. The old table lacks the threads that
    // were already moved to the new table, so the child leaks their memory.
    if (threads->table)
        table_free(threads->table);
    Heap_free(threads->incoming);
    threads->table = NULL;
    threads->incoming = NULL;
}

static void set_state(struct SampledThread *thread, uintptr_t state)
{
    if (thread->timer)
        thread->timer->state = state;
    if (thread->state == state)
        return;
    thread->state = state;
    thread->walked = false;
}

// Returns true if the sampled thread and the listed thread are the same. A new
// thread may get the id of a thread that has ended. A thread's number is 0 if
// it had no record when it was first listed, and may be set now.
static bool is_same(const struct SampledThread *thread,
                    const struct ListedThread *listed)
{
    return thread->tid == listed->tid &&
           (thread->number == listed->number || !thread->number);
}

// Takes a listed thread out of the table. The table and the list almost always
// have the same order, except that new threads come first. The search therefore
// begins after the thread that was taken last.
static struct SampledThread *take(struct SampledThreadTable *table,
                                  size_t *next,
                                  const struct ListedThread *listed)
{
    for (size_t i = 0; i < table->count; i++) {
        size_t at = (*next + i) % table->count;
        struct SampledThread *thread = table->threads[at];

        if (thread && !thread->gone && is_same(thread, listed)) {
            table->threads[at] = NULL;
            *next = at + 1;
            return thread;
        }
    }
    return NULL;
}

static struct SampledThread *find(const struct SampledThreadTable *table,
                                  pid_t tid)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->threads[i]->tid == tid && !table->threads[i]->gone)
            return table->threads[i];
    return NULL;
}

// Adds an element to the table. Returns false if memory is out.
static bool append(struct SampledThreads *threads, struct SampledThread *thread)
{
    struct SampledThreadTable *old = threads->table, *table;
    size_t size = old->count * sizeof(old->threads[0]);

    pthread_mutex_lock(&threads->lock);
    table = Heap_alloc(sizeof(*table) + size + sizeof(table->threads[0]));
    if (table) {
        table->count = old->count + 1;
        memcpy(table->threads, old->threads, size);
        table->threads[old->count] = thread;
        threads->table = table;
        Heap_free(old);
    }
    pthread_mutex_unlock(&threads->lock);
    return table;
}

bool SampledThreads_begin(struct SampledThreads *threads,
                          struct CpuTimer *timer)
{
    struct SampledThread *thread = find(threads->table, timer->tid);

    if (thread && thread->timer)
        return false;
    if (thread) {
        timer->represents = 1;
        thread->timer = timer;
        return true;
    }
    thread = Heap_alloc(sizeof(*thread));
    if (!thread)
        return false;
    SampledThread_init(thread, timer->state, timer->tid);
    thread->timer = timer;
    if (append(threads, thread))
        return true;
    Heap_free(thread);
    return false;
}

// Makes a new struct SampledThread. If the thread was known before, it was
// missing from the last list because it was outside Python. A thread that was
// known before gets back its old numbers.
static struct SampledThread *make(struct Ended *ended,
                                  const struct ListedThread *listed)
{
    struct SampledThread *thread = Heap_alloc(sizeof(*thread));
    struct EndedThread before;

    if (thread == NULL)
        // If memory is out, the thread is added with the next list.
        return NULL;
    SampledThread_init(thread, listed->state, listed->tid);
    if (Ended_take(ended, listed->tid, listed->name, &before)) {
        thread->cpu = before.cpu;
        thread->wait = before.wait;
        thread->gil.held = before.gil_held;
        thread->gil.waited = before.gil_waited;
        thread->gil.ready_ns = before.ready_ns;
        Counter_set(&thread->samples, before.samples);
    }
    return thread;
}

static void end(struct Ended *ended, struct SampledThread *thread)
{
    struct EndedThread last = {
        .tid = thread->tid,
        .cpu_ns = Counter_get(&thread->cpu.total_ns),
        .samples = Counter_get(&thread->samples),
        .ready_ns = thread->gil.ready_ns,
        .cpu = thread->cpu,
        .wait = thread->wait,
        .gil_held = thread->gil.held,
        .gil_waited = thread->gil.waited,
    };

    CpuTimer_free(thread->timer);
    memcpy(last.name, thread->name, sizeof(last.name));
    Ended_add(ended, &last);
}

static bool same_threads(const struct SampledThreadTable *table,
                         const struct OfferedThreads *list)
{
    if (table->count != list->count)
        return false;
    for (size_t i = 0; i < list->count; i++) {
        const struct SampledThread *thread = table->threads[i];
        const struct ListedThread *listed = &list->threads[i];

        if (!thread->listed || thread->state != listed->state ||
            thread->tid != listed->tid || thread->number != listed->number ||
            strcmp(thread->name, listed->name) != 0)
            return false;
    }
    return true;
}

// Marks the thread as listed. The timer of a listed thread represents only this
// thread.
static void list(struct SampledThread *thread,
                 const struct ListedThread *listed)
{
    if (!thread->listed && thread->timer)
        thread->timer->represents = 1;
    thread->listed = true;
    thread->number = listed->number;
    set_state(thread, listed->state);
    memcpy(thread->name, listed->name, sizeof(thread->name));
}

// Moves the threads that have begun after the list was made from the old table
// to the new one. The other threads in the old table have ended.
static void move_or_end(struct SampledThreads *threads,
                        struct SampledThreadTable *table)
{
    struct SampledThreadTable *old = threads->table;

    for (size_t i = 0; i < old->count; i++) {
        struct SampledThread *thread = old->threads[i];

        if (!thread)
            continue;
        if (thread->listed) {
            end(&threads->ended, thread);
        } else if (thread->gone) {
            CpuTimer_free(thread->timer);
        } else {
            table->threads[table->count++] = thread;
            old->threads[i] = NULL;
        }
    }
}

// Makes a new table from the offered list. The threads of the old table that
// still exist move to the new table.
static struct SampledThreadTable *renew(struct SampledThreads *threads,
                                        const struct OfferedThreads *offered)
{
    struct SampledThreadTable *old = threads->table;
    struct SampledThreadTable *table =
        Heap_alloc(sizeof(*table) +
                   (offered->count + old->count) * sizeof(table->threads[0]));
    size_t i, next = 0;

    if (table == NULL)
        return NULL;
    table->count = 0;
    for (i = 0; i < offered->count; i++)
        table->threads[i] = take(old, &next, &offered->threads[i]);
    for (i = 0; i < offered->count; i++) {
        const struct ListedThread *listed = &offered->threads[i];
        struct SampledThread *thread = table->threads[i];

        if (thread == NULL)
            thread = make(&threads->ended, listed);
        if (thread == NULL)
            continue;
        list(thread, listed);
        table->threads[table->count++] = thread;
    }
    move_or_end(threads, table);
    return table;
}

static bool is_listed(const void *offered, pid_t tid)
{
    const struct OfferedThreads *list = offered;

    for (size_t i = 0; i < list->count; i++)
        if (list->threads[i].tid == tid)
            return true;
    return false;
}

// Adds all other threads of the process to the end of the list, and returns the
// list. If memory is out, the list does not change.
static struct OfferedThreads *add_others(struct OfferedThreads *list)
{
    struct OtherThreads others = {.is_listed = is_listed, .list = list};
    struct OfferedThreads *more;

    OtherThreads_find(&others);
    more = Heap_resize(list, sizeof *list + (list->count + others.count) *
                                                sizeof list->threads[0]);
    for (size_t i = 0; more && i < others.count; i++) {
        struct ListedThread *thread = &more->threads[more->count++];

        *thread = (struct ListedThread){.tid = others.threads[i].tid};
        memcpy(thread->name, others.threads[i].name, sizeof thread->name);
    }
    return more ? more : list;
}

// Settles the waits of the threads that have ended, which are still in the old
// table.
static void settle_waits(struct SampledThreadTable *old,
                         const struct Attribution *attribution,
                         const struct ShareTime *now)
{
    for (size_t i = 0; i < old->count; i++)
        if (old->threads[i])
            Attribution_settle_wait(attribution, &old->threads[i]->stack, now,
                                    0);
}

void SampledThreads_take(struct SampledThreads *threads,
                         const struct Attribution *attribution,
                         const struct ShareTime *now, bool all)
{
    struct OfferedThreads *list = atomic_exchange_explicit(
        &threads->incoming, NULL, memory_order_acquire);
    struct SampledThreadTable *old = threads->table, *table;

    if (list == NULL)
        return;
    if (all)
        list = add_others(list);
    if (!same_threads(old, list)) {
        pthread_mutex_lock(&threads->lock);
        table = renew(threads, list);
        if (table) {
            threads->table = table;
            settle_waits(old, attribution, now);
            table_free(old);
        }
        pthread_mutex_unlock(&threads->lock);
    }
    Heap_free(list);
}

int SampledThreads_offer(struct SampledThreads *threads,
                         const struct ListedThread *listed, size_t count)
{
    struct OfferedThreads *list =
        Heap_alloc(sizeof(*list) + count * sizeof(list->threads[0]));

    if (list == NULL)
        return -ENOMEM;
    list->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct ListedThread *copy = &list->threads[list->count];

        if (listed[i].tid <= 0)
            continue;
        *copy = listed[i];
        copy->name[sizeof(copy->name) - 1] = '\0';
        list->count++;
    }
    // This store pairs with the exchange in SampledThreads_take. If the sampler
    // has not taken the earlier list, the new list replaces it.
    Heap_free(atomic_exchange_explicit(&threads->incoming, list,
                                       memory_order_acq_rel));
    return 0;
}

static void describe_gil(struct Thread *row, const struct ShareValue *held,
                         const struct ShareValue *waited,
                         const struct ShareTime *now)
{
    row->gil_held_share = ShareValue_window(held, now);
    row->gil_wait_share = ShareValue_window(waited, now);
    row->gil_held_s = (double)Counter_get(&held->total_ns) / 1e9;
    row->gil_wait_s = (double)Counter_get(&waited->total_ns) / 1e9;
}

static void describe(struct Thread *row, const struct SampledThread *thread,
                     const struct ShareTime *now, struct Snapshot *snapshot)
{
    *row = (struct Thread){
        .tid = (uint64_t)thread->tid,
        .name = *thread->name ? Snapshot_text(snapshot, thread->name) : NULL,
        .cpu_share = ShareValue_window(&thread->cpu, now),
        .wait_share = ShareValue_window(&thread->wait, now),
        .samples = Counter_get(&thread->samples),
        .cpu_s = (double)Counter_get(&thread->cpu.total_ns) / 1e9,
    };
    describe_gil(row, &thread->gil.held, &thread->gil.waited, now);
    row->functions = Breakdown_list(&thread->functions, now, &snapshot->arena,
                                    &row->function_count);
}

static void describe_ended(struct Thread *row, const struct EndedThread *thread,
                           const struct ShareTime *now,
                           struct Snapshot *snapshot)
{
    *row = (struct Thread){
        .tid = (uint64_t)thread->tid,
        .name = *thread->name ? Snapshot_text(snapshot, thread->name) : NULL,
        .cpu_share = ShareValue_window(&thread->cpu, now),
        .wait_share = ShareValue_window(&thread->wait, now),
        .samples = thread->samples,
        .cpu_s = (double)thread->cpu_ns / 1e9,
        .ended = true,
    };
    describe_gil(row, &thread->gil_held, &thread->gil_waited, now);
}

struct Thread *SampledThreads_fill(struct SampledThreads *threads,
                                   const struct ShareTime *now,
                                   struct Snapshot *snapshot, size_t more)
{
    const struct Ended *ended = &threads->ended;
    const struct SampledThreadTable *table;
    size_t known = 0; // Number of listed threads.
    struct Thread *rows;

    pthread_mutex_lock(&threads->lock);
    table = threads->table;
    rows = Snapshot_alloc(snapshot, (table->count + ended->count + more + 1) *
                                        sizeof *rows);
    for (size_t i = 0; rows && i < table->count; i++)
        if (table->threads[i]->listed)
            describe(&rows[known++], table->threads[i], now, snapshot);
    for (size_t i = 0; rows && i < ended->count; i++)
        describe_ended(&rows[known++], &ended->threads[i], now, snapshot);
    snapshot->threads_dropped = ended->dropped;
    pthread_mutex_unlock(&threads->lock);
    snapshot->threads = rows;
    snapshot->thread_count = known;
    return rows;
}
