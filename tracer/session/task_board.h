// SPDX-License-Identifier: MIT
// struct TaskBoard passes asyncio's tasks from the governor's thread, which
// reads them, to snapshots. Tasks are read only for some seconds after a viewer
// or the program has asked for them, and once in a while for the recording. Any
// thread may call the functions of task_board.h, and no caller needs the GIL.
#pragma once

#include "ipc/snapshot.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// The groups of asyncio's tasks as they were at one time. A finished table of
// groups never changes.
struct TaskTable {
    struct Arena arena; // Holds the groups of tasks and their texts.
    // The groups, and the tasks to which they point, have no await chains here.
    struct TaskGroup *groups;
    // The first `coroutine_count` groups have the tasks of one coroutine
    // function each. Each of the other groups has the tasks that wait at one
    // place.
    size_t count, coroutine_count;
    struct AwaitRow *awaits;
    size_t await_count;
    // Number of all tasks, or NULL_U64 if the first walk over all tasks is not
    // complete yet.
    uint64_t total;
    // The single tasks of all groups, to which the groups point. The await
    // chain (coroutines that a task awaits) of tasks[i] has the links from
    // links[begins[i]] on. A link is the number of an element of `lines`,
    // counted from 1.
    struct TaskRow *tasks;
    size_t task_count;
    size_t *begins;
    uint32_t *links;
    size_t link_count;
    struct StackPlace *lines;
    uint32_t line_count;
};

// Number of groups whose single tasks can be shown at the same time.
#define TASK_REQUESTS 4

// A request for the single tasks of a group.
struct TaskRequest {
    uint64_t key;      // TaskGroup_key(), or TASK_KEY_ALL.
    uint64_t asked_ns; // CLOCK_MONOTONIC, or 0 if the request is free.
};

#define TASK_KEY_ALL UINT64_MAX // A key for the tasks of all groups.

struct TaskBoard {
    // CLOCK_MONOTONIC in ns at the last request for tasks, or 0 if there was
    // none.
    _Atomic uint64_t asked_ns;
    // True if the recording wants one walk over the tasks.
    _Atomic bool wanted;
    // CLOCK_MONOTONIC in ns until which the table of the last whole walk for
    // the recording is kept (0 if there is none), and at which the next walk
    // may begin. The governor's thread writes both times.
    _Atomic uint64_t kept_ns, due_ns;
    // Guards `table` and `requests`. A thread holds the mutex for a few
    // microseconds.
    pthread_mutex_t mutex;
    // The newest table of groups, which the board owns, or NULL.
    struct TaskTable *table;
    struct TaskRequest requests[TASK_REQUESTS];
};

void TaskBoard_init(struct TaskBoard *board);
void TaskBoard_release(struct TaskBoard *board);
// Asks for asyncio's tasks. Returns true if tasks were not asked for recently,
// so that the caller must wake the governor.
bool TaskBoard_ask(struct TaskBoard *board);
// TaskBoard_ask_group also asks for the single tasks of a group (TaskGroup_key
// or TASK_KEY_ALL).
bool TaskBoard_ask_group(struct TaskBoard *board, uint64_t key);
// Asks for one walk over the tasks, unless the last walk has taken so much time
// that no other one is allowed yet.
void TaskBoard_want(struct TaskBoard *board);
// Ends the walk for the recording. No other walk for the recording is allowed
// for `pause_s` seconds.
void TaskBoard_end_walk(struct TaskBoard *board, bool whole, double pause_s);
// Returns true if a viewer or the program has asked for asyncio's tasks
// recently.
bool TaskBoard_is_watched(const struct TaskBoard *board);
// Returns true if tasks must be read, also for the recording.
bool TaskBoard_is_asked(const struct TaskBoard *board);
// Returns true if the single tasks of this group, or of all groups, were asked
// for recently by this key.
bool TaskBoard_is_shown(struct TaskBoard *board, uint64_t key);
// Returns true if the ages of tasks and the growth of groups are kept.
bool TaskBoard_is_kept(const struct TaskBoard *board);
// Replaces the board's table of groups. The board owns the new table, which may
// be NULL.
void TaskBoard_set(struct TaskBoard *board, struct TaskTable *table);
// Copies the table of groups into a snapshot, and the single tasks that were
// asked for recently.
void TaskBoard_fill(struct TaskBoard *board, struct Snapshot *snapshot);
void TaskTable_free(struct TaskTable *table); // `table` may be NULL.
