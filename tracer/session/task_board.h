// SPDX-License-Identifier: MIT
// struct TaskBoard passes asyncio's tasks from the governor's thread, which
// reads them, to snapshots. Tasks are read only for a while after a viewer or
// the program has asked for them. Any thread may call these functions, and no
// caller needs the GIL.
#ifndef OCULAR_TRACER_SESSION_TASK_BOARD_H
#define OCULAR_TRACER_SESSION_TASK_BOARD_H

#include "ipc/snapshot.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// The groups of asyncio's tasks at one moment. A finished table never changes.
struct TaskTable {
    struct Arena arena; // Holds the groups and their texts.
    struct TaskGroup *groups;
    size_t count;
    // Number of all tasks; NULL_U64 if the first walk is not complete yet.
    uint64_t total;
};

struct TaskBoard {
    // CLOCK_MONOTONIC in ns at the last request; 0 if there was none.
    _Atomic uint64_t asked_ns;
    // Guards `table`. A thread holds it for a few microseconds.
    pthread_mutex_t mutex;
    struct TaskTable *table; // The newest table, which the board owns, or NULL.
};

void TaskBoard_init(struct TaskBoard *board);
void TaskBoard_release(struct TaskBoard *board);
// Asks for the tasks. Returns true if there was no request for a while, so that
// the caller must wake the governor.
bool TaskBoard_ask(struct TaskBoard *board);
// Returns true if the tasks were asked for recently.
bool TaskBoard_is_asked(const struct TaskBoard *board);
// Returns true if the ages of tasks and the growth of groups are kept.
bool TaskBoard_is_kept(const struct TaskBoard *board);
// Replaces the table. The board owns the new table, which may be NULL.
void TaskBoard_set(struct TaskBoard *board, struct TaskTable *table);
// Copies the table into a snapshot. Returns false if there is no memory.
bool TaskBoard_fill(struct TaskBoard *board, struct Snapshot *snapshot);
void TaskTable_free(struct TaskTable *table); // `table` may be NULL.

#endif
