// SPDX-License-Identifier: MIT
// struct TaskGroups counts asyncio's tasks by their coroutine functions. A walk
// over all tasks is divided over many holds of the GIL, and the counts of whole
// walks show how a group grows. Only the governor's thread calls these
// functions, which do not need the GIL.
#ifndef OCULAR_TRACER_SESSION_TASK_GROUPS_H
#define OCULAR_TRACER_SESSION_TASK_GROUPS_H

#include "tracer/session/task_board.h"

#include <stdbool.h>
#include <stdint.h>

#define TASK_GROUPS 128 // Largest number of groups.
#define TASK_WAITS 8 // Largest number of lines per group at which tasks wait.
// Largest number of whole walks that are kept to compute the growth.
#define TASK_POINTS 16
#define TASK_BIRTHS 64
// Largest number of lines of an await chain. A longer chain lacks some lines.
#define TASK_CHAIN 64

// A line of a function. `line` is 0 if there is none.
struct TaskLine {
    const char *name;
    const char *file; // NULL if there is no file.
    uint32_t line;
    uint32_t function; // Id of the function; 0 if unknown.
};

struct TaskWait {
    struct TaskLine at; // The TaskWait owns the texts.
    uint64_t hash;
    // Number of tasks that wait at this line in the newest walk.
    uint64_t found;
};

struct TaskPoint {
    double at_s; // CLOCK_MONOTONIC in seconds at the middle of the walk.
    uint64_t count;
};

// The await chain of one task, from the task's coroutine to the innermost
// await. The TaskChain owns all texts.
struct TaskChain {
    const char *task; // Name of the task; NULL if there is no chain.
    // asyncio's number of the task; UINT64_MAX if there is none.
    uint64_t number;
    struct TaskLine *lines; // An array of TASK_CHAIN lines, or NULL.
    unsigned count;
};

struct CountedTasks {
    // The CountedTasks owns the texts. If the name is NULL, the entry is free.
    struct TaskLine coroutine;
    uint64_t hash;
    uint32_t function; // Id of the coroutine function, or 0.
    uint64_t found;    // Number of tasks in the newest walk.
    // Lowest number of these tasks; UINT64_MAX if there is none.
    uint64_t lowest;
    struct TaskWait waits[TASK_WAITS];
    // Await chain of the oldest task in the newest walk.
    struct TaskChain chain;
    // The whole walks of the newest minute, the oldest first.
    struct TaskPoint points[TASK_POINTS];
    unsigned point_count;
    // Number of walks, since the group last shrank, that found more tasks than
    // the walk before. `first_rise_s` is the time of the first such walk, and
    // `rose_s` is the time of the newest.
    unsigned rises;
    double first_rise_s, rose_s;
    uint64_t newest_count;
};

// A task with the number `number` existed at the time `at_s`. asyncio numbers
// tasks in turn, so all tasks with lower numbers are older.
struct TaskBirth {
    uint64_t number;
    double at_s;
    // True if no walk took place before, so that the task may be much older.
    bool least;
};

struct TaskGroups { // A zeroed struct TaskGroups has no groups.
    // An array of TASK_GROUPS entries; NULL before the first walk.
    struct CountedTasks *all;
    // Number of entries in use, including free entries between them.
    unsigned count;
    uint64_t found; // Number of tasks in the newest walk.
    double begun_s; // Time at which the newest walk began.
    // Time at the middle of the last whole walk; 0 if there was none.
    double last_s;
    // True if no walk took place for a while before this walk.
    bool interrupted;
    struct TaskBirth births[TASK_BIRTHS]; // The births, the oldest first.
    unsigned birth_count;
};

// Begins a walk over all tasks. Returns false if there is no memory.
bool TaskGroups_begin(struct TaskGroups *groups, double now_s);
// Notes that no walk will take place for a while.
void TaskGroups_interrupt(struct TaskGroups *groups);
// Returns the group of a coroutine function. Returns NULL if there are too many
// groups or there is no memory. `function` is the function's id, or 0.
struct CountedTasks *TaskGroups_find(struct TaskGroups *groups,
                                     const struct TaskLine *coroutine,
                                     uint32_t function);
// Returns the entry of a line at which tasks of the group wait, or NULL.
struct TaskWait *TaskGroups_wait(struct CountedTasks *group,
                                 const struct TaskLine *at);
// Counts a task. Its group and its wait may be NULL. `number` is the number
// that asyncio has given to the task, or 0.
void TaskGroups_add(struct TaskGroups *groups, struct CountedTasks *group,
                    struct TaskWait *wait, uint64_t number);
// Returns true if the group needs the await chain of this task, because it has
// no chain yet or only that of a younger task.
bool TaskGroups_wants_chain(const struct CountedTasks *group, uint64_t number);
// Begins the await chain of the task with this name and number.
void TaskGroups_begin_chain(struct CountedTasks *group, const char *task,
                            uint64_t number);
// Adds a line to the await chain. If the chain is full, the new line replaces
// its last line.
void TaskGroups_add_line(struct CountedTasks *group,
                         const struct TaskLine *line);
// Notes that tasks with numbers up to `number` exist now.
void TaskGroups_note_birth(struct TaskGroups *groups, uint64_t number,
                           double now_s);
// Ends a whole walk.
void TaskGroups_end(struct TaskGroups *groups, double now_s);
// Returns the groups of the newest walk, or NULL if there is no memory. The
// caller owns the table. `whole` is true if the walk has seen all tasks.
struct TaskTable *TaskGroups_table(const struct TaskGroups *groups, bool whole,
                                   double now_s);
void TaskGroups_release(struct TaskGroups *groups);

#endif
