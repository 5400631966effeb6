// SPDX-License-Identifier: MIT
// Passes asyncio's tasks from the governor's thread, which reads them, to
// snapshots. Tasks are read only for a while after somebody has asked for them.
// Any thread may call these functions, and no caller needs the GIL.
#ifndef OCULAR_TRACER_SESSION_TASK_BOARD_H
#define OCULAR_TRACER_SESSION_TASK_BOARD_H

#include "ipc/snapshot.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// The groups of tasks at one moment. A finished table never changes.
struct TaskTable {
    struct Arena arena; // holds the groups and their texts
    struct TaskGroup *groups;
    size_t count;
    uint64_t total; // NULL_U64: the first walk is not whole yet
};

struct TaskBoard {
    _Atomic uint64_t asked_ns; // CLOCK_MONOTONIC; 0: never
    pthread_mutex_t mutex;     // guards `table`, for a few microseconds
    struct TaskTable *table;   // newest table, owned; or NULL
};

void TaskBoard_init(struct TaskBoard *board);
void TaskBoard_release(struct TaskBoard *board);
// Asks for the tasks. Returns true if nobody has asked for a while, so that the
// governor has to be woken.
bool TaskBoard_ask(struct TaskBoard *board);
// Returns true if somebody has asked recently.
bool TaskBoard_is_asked(const struct TaskBoard *board);
// Returns true if the ages of tasks and the growth of groups are kept.
bool TaskBoard_is_kept(const struct TaskBoard *board);
// Replaces the table, which the board owns from now on. NULL: none.
void TaskBoard_set(struct TaskBoard *board, struct TaskTable *table);
// Copies the table into a snapshot. Returns false if memory is out.
bool TaskBoard_fill(struct TaskBoard *board, struct Snapshot *snapshot);
void TaskTable_free(struct TaskTable *table); // NULL is fine

#endif
