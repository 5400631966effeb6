// SPDX-License-Identifier: MIT
// struct TaskGroups counts asyncio's tasks by their coroutine functions, and by
// the places at which they were created. A walk over all tasks is divided over
// many holds of the GIL. The counts of walks that have found all tasks (whole
// walks) show how a group of tasks grows. Only the governor's thread calls the
// functions of task_groups.h, which do not need the GIL.
#pragma once

#include "tracer/session/task_board.h"
#include "tracer/session/task_list.h"

#include <stdbool.h>
#include <stdint.h>

// Largest number of groups by coroutine function, and largest number of groups
// by place of creation.
#define TASK_GROUPS 128
// For each group, at most this number of lines of code is kept at which its
// tasks wait.
#define TASK_WAITS 8
// At most this number of whole walks over the tasks is kept to compute the
// growth.
#define TASK_POINTS 16
#define TASK_BIRTHS 64
struct TaskWait {
    // The line of code at which tasks wait. The struct TaskWait owns its texts.
    struct TaskLine at;
    uint64_t hash;
    // Number of tasks that wait at this line in the newest walk over the tasks.
    uint64_t found;
};

struct TaskPoint {
    // CLOCK_MONOTONIC in seconds at the middle of a walk over the tasks.
    double at_s;
    uint64_t count;
};

struct CountedTasks {
    // The coroutine function of the tasks, or the place at which they were
    // created. The struct CountedTasks owns its texts. If the name is NULL, the
    // entry is free.
    struct TaskLine coroutine;
    uint64_t hash;
    // Number of tasks of the group that the newest walk over the tasks has
    // found.
    uint64_t found;
    // asyncio numbers tasks. The lowest number of the found tasks, or
    // UINT64_MAX if no task was found.
    uint64_t lowest;
    struct TaskWait waits[TASK_WAITS];
    struct TaskList oldest; // The oldest tasks in the newest walk.
    // Results of the whole walks over the tasks in the newest minute, the
    // oldest first.
    struct TaskPoint points[TASK_POINTS];
    unsigned point_count;
    // Since the group last shrank, the number of walks over the tasks that
    // found more tasks of the group than the walk before. `first_rise_s` is the
    // time of the first of these walks, and `rose_s` that of the newest one.
    unsigned rises;
    double first_rise_s, rose_s;
    uint64_t newest_count;
    // Number of steps of the tasks at the time `steps_at_s`. `steps_at_s` is 0
    // if unknown.
    uint64_t steps;
    double steps_at_s, steps_per_s; // NaN if unknown.
};

// A task with the number `number` existed at the time `at_s`. asyncio numbers
// tasks in turn, so all tasks with lower numbers are older.
struct TaskBirth {
    uint64_t number;
    double at_s;
    // True if this was found by the first walk over the tasks, so that the task
    // may be much older.
    bool least;
};

struct TaskGroups { // All fields are 0 at first.
    // An array of 2 * TASK_GROUPS entries, or NULL before the first walk over
    // the tasks.
    struct CountedTasks *all;
    // Number of entries of `all` in use, including free entries between them.
    unsigned count;
    // The lines in the await chains of `oldest` of all groups.
    struct TaskLines lines;
    // Number of tasks that the newest walk over the tasks has found.
    uint64_t found;
    double begun_s; // Time at which the newest walk over the tasks began.
    // Time at the middle of the last whole walk over the tasks, or 0 if there
    // was none.
    double last_s;
    // Time at which some tasks were last not counted by place, or 0 if never.
    double missed_s;
    // True if the newest walk over the tasks is the first one for a while.
    bool interrupted;
    // Tasks whose time of creation is known, the oldest first.
    struct TaskBirth births[TASK_BIRTHS];
    unsigned birth_count;
};

// Begins a walk over all tasks. Returns false if there is no memory.
bool TaskGroups_begin(struct TaskGroups *groups, double now_s);
// TaskGroups_interrupt is called if no walk over the tasks will take place for
// a while.
void TaskGroups_interrupt(struct TaskGroups *groups);
// Returns the group of a coroutine function, or of a place at which tasks were
// created. Returns NULL if there are too many groups or there is no memory.
struct CountedTasks *TaskGroups_find(struct TaskGroups *groups,
                                     const struct TaskLine *coroutine);
// Returns the TaskWait of a line at which tasks of the group wait, or NULL.
struct TaskWait *TaskGroups_wait(struct CountedTasks *group,
                                 const struct TaskLine *at);
// Counts a task. `group` is the task's group, and `wait` is the line at which
// the task waits. `group` and `wait` may be NULL. `number` is the number that
// asyncio has given to the task, or 0.
void TaskGroups_add(struct TaskGroups *groups, struct CountedTasks *group,
                    struct TaskWait *wait, uint64_t number);
// Counts a task in the group of the place at which it was created.
void TaskGroups_add_to_place(struct CountedTasks *place, struct TaskWait *wait,
                             uint64_t number);
// Returns the TaskGroup_key() of the group's row.
uint64_t CountedTasks_key(const struct CountedTasks *group);
// Stores the number of steps that tasks of a group have made, or UINT64_MAX if
// unknown.
void CountedTasks_note_steps(struct CountedTasks *group, uint64_t steps,
                             double now_s);
// TaskGroups_note_birth is called if the task with asyncio's number `number`
// exists now.
void TaskGroups_note_birth(struct TaskGroups *groups, uint64_t number,
                           double now_s);
// Ends a walk over the tasks that has found all of them.
void TaskGroups_end(struct TaskGroups *groups, double now_s);
// Returns a table of the groups in the newest walk over the tasks, or NULL if
// there is no memory. The caller owns the table. `whole` is true if the walk
// has found all tasks.
struct TaskTable *TaskGroups_table(struct TaskGroups *groups, bool whole,
                                   double now_s);
void TaskGroups_release(struct TaskGroups *groups);
