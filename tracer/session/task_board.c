// SPDX-License-Identifier: MIT
#include "tracer/session/task_board.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "tracer/session/task_list.h"

#include <string.h>
#include <time.h>

// asyncio's tasks are read for this number of ns after the last request for
// them.
#define ASKED_NS 10000000000ull

// The ages of tasks and the growth of groups are kept for this number of ns
// after the last request, and after the time of the next walk for the
// recording.
#define KEPT_NS 80000000000ull

void TaskBoard_init(struct TaskBoard *board)
{
    memset(board, 0, sizeof *board);
    pthread_mutex_init(&board->mutex, NULL);
}

void TaskBoard_release(struct TaskBoard *board)
{
    TaskTable_free(board->table);
    pthread_mutex_destroy(&board->mutex);
}

void TaskTable_free(struct TaskTable *table)
{
    if (table)
        Arena_release(&table->arena);
    Heap_free(table);
}

static bool is_within(const _Atomic uint64_t *then_ns, uint64_t ns)
{
    uint64_t then = atomic_load_explicit(then_ns, memory_order_relaxed);

    return then && Now_ns(CLOCK_MONOTONIC) - then < ns;
}

bool TaskBoard_is_watched(const struct TaskBoard *board)
{
    return is_within(&board->asked_ns, ASKED_NS);
}

bool TaskBoard_is_asked(const struct TaskBoard *board)
{
    return TaskBoard_is_watched(board) || atomic_load(&board->wanted);
}

bool TaskBoard_is_kept(const struct TaskBoard *board)
{
    return is_within(&board->asked_ns, KEPT_NS) ||
           Now_ns(CLOCK_MONOTONIC) < atomic_load(&board->kept_ns);
}

void TaskBoard_want(struct TaskBoard *board)
{
    if (Now_ns(CLOCK_MONOTONIC) >= atomic_load(&board->due_ns))
        atomic_store(&board->wanted, true);
}

void TaskBoard_end_walk(struct TaskBoard *board, bool whole, double pause_s)
{
    uint64_t now_ns = Now_ns(CLOCK_MONOTONIC);

    uint64_t due_ns = now_ns + (uint64_t)(1e9 * pause_s);

    if (whole)
        atomic_store(&board->kept_ns, due_ns + KEPT_NS);
    atomic_store(&board->due_ns, due_ns);
    atomic_store(&board->wanted, false);
}

bool TaskBoard_ask(struct TaskBoard *board)
{
    bool asked = TaskBoard_is_watched(board);

    atomic_store_explicit(&board->asked_ns, Now_ns(CLOCK_MONOTONIC),
                          memory_order_relaxed);
    return !asked;
}

void TaskBoard_set(struct TaskBoard *board, struct TaskTable *table)
{
    struct TaskTable *old;

    pthread_mutex_lock(&board->mutex);
    old = board->table;
    board->table = table;
    pthread_mutex_unlock(&board->mutex);
    TaskTable_free(old);
}

bool TaskBoard_ask_group(struct TaskBoard *board, uint64_t key)
{
    struct TaskRequest *request = board->requests;

    pthread_mutex_lock(&board->mutex);
    for (unsigned i = 1; i < TASK_REQUESTS && request->key != key; i++)
        if (board->requests[i].key == key ||
            board->requests[i].asked_ns < request->asked_ns)
            request = &board->requests[i];
    *request = (struct TaskRequest){key, Now_ns(CLOCK_MONOTONIC)};
    pthread_mutex_unlock(&board->mutex);
    return TaskBoard_ask(board);
}

static bool is_requested(const struct TaskBoard *board, uint64_t key,
                         uint64_t now_ns)
{
    for (unsigned i = 0; i < TASK_REQUESTS; i++) {
        const struct TaskRequest *request = &board->requests[i];

        if (request->asked_ns && now_ns - request->asked_ns < ASKED_NS &&
            request->key == key)
            return true;
    }
    return false;
}

bool TaskBoard_is_shown(struct TaskBoard *board, uint64_t key)
{
    bool shown;

    pthread_mutex_lock(&board->mutex);
    shown = is_requested(board, key, Now_ns(CLOCK_MONOTONIC));
    pthread_mutex_unlock(&board->mutex);
    return shown;
}

// --- A copy of the table in a snapshot -------------------------------------

struct Copy {
    struct Snapshot *snapshot;
    const struct TaskTable *table;
    // The table's lines of code, with texts in the snapshot. A line that is not
    // copied yet has the name NULL.
    struct StackPlace *lines;
    size_t tasks; // Number of single tasks that were copied.
};

static const struct StackPlace *line_at(struct Copy *copy, uint32_t link)
{
    struct StackPlace *line = &copy->lines[link - 1];

    if (!line->name) {
        *line = copy->table->lines[link - 1];
        line->name = Snapshot_text(copy->snapshot, line->name);
        line->file = Snapshot_text(copy->snapshot, line->file);
    }
    return line;
}

// Copies the chain of coroutines that a task awaits.
static const struct StackPlace *chain_of(struct Copy *copy,
                                         const struct TaskRow *task)
{
    const struct TaskTable *table = copy->table;
    const uint32_t *links = table->links + table->begins[task - table->tasks];
    struct StackPlace *chain =
        Snapshot_alloc(copy->snapshot, (task->chain_count + 1) * sizeof *chain);

    for (size_t i = 0; chain && i < task->chain_count; i++)
        chain[i] = *line_at(copy, links[i]);
    return chain;
}

static void copy_tasks(struct Copy *copy, struct TaskGroup *group)
{
    const struct TaskRow *from = group->tasks;
    struct TaskRow *rows;

    if (group->task_count > TASK_SHOWN - copy->tasks)
        group->task_count = TASK_SHOWN - copy->tasks;
    copy->tasks += group->task_count;
    rows =
        Snapshot_alloc(copy->snapshot, (group->task_count + 1) * sizeof *rows);
    group->tasks = rows;
    for (size_t i = 0; rows && i < group->task_count; i++) {
        rows[i] = from[i];
        rows[i].name = Snapshot_text(copy->snapshot, from[i].name);
        rows[i].waits_for = Snapshot_text(copy->snapshot, from[i].waits_for);
        rows[i].awaited_by = Snapshot_text(copy->snapshot, from[i].awaited_by);
        rows[i].chain = chain_of(copy, &from[i]);
    }
}

static void copy_awaits(struct Snapshot *snapshot,
                        const struct TaskTable *table)
{
    struct AwaitRow *rows =
        Snapshot_alloc(snapshot, (table->await_count + 1) * sizeof *rows);

    if (!rows)
        return;
    for (size_t i = 0; i < table->await_count; i++) {
        rows[i] = table->awaits[i];
        rows[i].name = Snapshot_text(snapshot, rows[i].name);
        rows[i].file = Snapshot_text(snapshot, rows[i].file);
    }
    snapshot->tasks_awaits = rows;
    snapshot->tasks_await_count = table->await_count;
}

static void copy_group(struct Copy *copy, struct TaskGroup *group,
                       bool requested)
{
    struct Snapshot *snapshot = copy->snapshot;

    group->coroutine = Snapshot_text(snapshot, group->coroutine);
    group->file = Snapshot_text(snapshot, group->file);
    group->waits_in = Snapshot_text(snapshot, group->waits_in);
    group->wait_file = Snapshot_text(snapshot, group->wait_file);
    if (group->task_count) { // the first is the oldest
        group->task = Snapshot_text(snapshot, group->tasks->name);
        group->chain = chain_of(copy, group->tasks);
        group->chain_count = group->tasks->chain_count;
    }
    if (requested) {
        copy_tasks(copy, group);
        return;
    }
    group->tasks = NULL;
    group->task_count = 0;
}

// Groups that were asked for by their keys are copied first, because a snapshot
// has at most TASK_SHOWN single tasks.
static void copy_table(const struct TaskBoard *board, struct Copy *copy)
{
    uint64_t now_ns = Now_ns(CLOCK_MONOTONIC);
    bool all = is_requested(board, TASK_KEY_ALL, now_ns);
    const struct TaskTable *table = copy->table;
    struct Snapshot *snapshot = copy->snapshot;
    struct TaskGroup *groups =
        Snapshot_alloc(snapshot, (table->count + 1) * sizeof *groups);

    if (!groups)
        return;
    for (size_t i = 0; i < 2 * table->count; i++) {
        const struct TaskGroup *from = &table->groups[i % table->count];
        struct TaskGroup *group = &groups[i % table->count];
        bool asked = is_requested(board, TaskGroup_key(from), now_ns);

        if (asked != (i < table->count))
            continue;
        *group = *from;
        copy_group(copy, group,
                   asked ||
                       (all && from < table->groups + table->coroutine_count));
    }
    snapshot->tasks_total = table->total;
    snapshot->tasks_groups = groups;
    snapshot->tasks_group_count = table->coroutine_count;
    snapshot->tasks_places = groups + table->coroutine_count;
    snapshot->tasks_place_count = table->count - table->coroutine_count;
    copy_awaits(snapshot, table);
}

void TaskBoard_fill(struct TaskBoard *board, struct Snapshot *snapshot)
{
    struct Copy copy = {.snapshot = snapshot};

    pthread_mutex_lock(&board->mutex);
    if ((copy.table = board->table)) {
        copy.lines =
            Heap_zeroed(copy.table->line_count + 1, sizeof *copy.lines);
        if (copy.lines)
            copy_table(board, &copy);
        snapshot->arena.failed |= !copy.lines;
        Heap_free(copy.lines);
    }
    pthread_mutex_unlock(&board->mutex);
}
