// SPDX-License-Identifier: MIT
#include "tracer/session/task_board.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"

#include <string.h>
#include <time.h>

// Tasks are read for this number of ns after the last request for them.
#define ASKED_NS 10000000000ull

// The ages of tasks and the growth of groups are kept for this number of ns
// after the last request.
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

static bool is_asked_within(const struct TaskBoard *board, uint64_t ns)
{
    uint64_t asked =
        atomic_load_explicit(&board->asked_ns, memory_order_relaxed);

    return asked && Now_ns(CLOCK_MONOTONIC) - asked < ns;
}

bool TaskBoard_is_asked(const struct TaskBoard *board)
{
    return is_asked_within(board, ASKED_NS);
}

bool TaskBoard_is_kept(const struct TaskBoard *board)
{
    return is_asked_within(board, KEPT_NS);
}

bool TaskBoard_ask(struct TaskBoard *board)
{
    bool asked = TaskBoard_is_asked(board);

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

static bool copy_chain(struct Snapshot *snapshot, struct TaskGroup *group)
{
    const struct StackPlace *from = group->chain;
    struct StackPlace *places =
        Snapshot_alloc(snapshot, (group->chain_count + 1) * sizeof *places);
    bool whole = places;

    for (size_t i = 0; whole && i < group->chain_count; i++) {
        places[i] = from[i];
        places[i].name = Snapshot_text(snapshot, from[i].name);
        places[i].file = Snapshot_text(snapshot, from[i].file);
        whole = places[i].name && !places[i].file == !from[i].file;
    }
    group->chain = places;
    return whole;
}

static bool copy_awaits(struct Snapshot *snapshot,
                        const struct TaskTable *table)
{
    struct AwaitRow *rows =
        Snapshot_alloc(snapshot, (table->await_count + 1) * sizeof *rows);
    bool whole = rows;

    for (size_t i = 0; whole && i < table->await_count; i++) {
        rows[i] = table->awaits[i];
        rows[i].name = Snapshot_text(snapshot, rows[i].name);
        rows[i].file = Snapshot_text(snapshot, rows[i].file);
        whole = rows[i].name && !rows[i].file == !table->awaits[i].file;
    }
    if (!whole)
        return false;
    snapshot->tasks_awaits = rows;
    snapshot->tasks_await_count = table->await_count;
    return true;
}

static bool copy(struct Snapshot *snapshot, const struct TaskTable *table)
{
    struct TaskGroup *groups =
        Snapshot_alloc(snapshot, (table->count + 1) * sizeof *groups);
    bool whole = groups;

    for (size_t i = 0; whole && i < table->count; i++) {
        struct TaskGroup *group = &groups[i];

        *group = table->groups[i];
        group->coroutine = Snapshot_text(snapshot, group->coroutine);
        group->file = Snapshot_text(snapshot, group->file);
        group->waits_in = Snapshot_text(snapshot, group->waits_in);
        group->wait_file = Snapshot_text(snapshot, group->wait_file);
        group->task = Snapshot_text(snapshot, group->task);
        whole = copy_chain(snapshot, group) && group->coroutine &&
                !group->task == !table->groups[i].task &&
                !group->file == !table->groups[i].file &&
                !group->waits_in == !table->groups[i].waits_in &&
                !group->wait_file == !table->groups[i].wait_file;
    }
    if (!whole)
        return false;
    snapshot->tasks_total = table->total;
    snapshot->tasks_groups = groups;
    snapshot->tasks_group_count = table->count;
    return copy_awaits(snapshot, table);
}

bool TaskBoard_fill(struct TaskBoard *board, struct Snapshot *snapshot)
{
    bool whole;

    pthread_mutex_lock(&board->mutex);
    whole = !board->table || copy(snapshot, board->table);
    pthread_mutex_unlock(&board->mutex);
    return whole;
}
