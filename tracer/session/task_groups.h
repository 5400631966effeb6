// SPDX-License-Identifier: MIT
// Counts asyncio's tasks by their coroutines. A walk over all tasks takes many
// slices, and the counts of whole walks show how a group grows. Only the
// governor's thread calls these functions, and the functions do not need the
// GIL.
#ifndef OCULAR_TRACER_SESSION_TASK_GROUPS_H
#define OCULAR_TRACER_SESSION_TASK_GROUPS_H

#include "tracer/session/task_board.h"

#include <stdbool.h>
#include <stdint.h>

#define TASK_GROUPS 128 // largest number of groups
#define TASK_WAITS 8    // lines per group at which tasks wait
#define TASK_POINTS 16  // whole walks that are kept for the growth
#define TASK_BIRTHS 64
#define TASK_CHAIN 64 // lines of a chain; of a longer chain some are missing

// A line of a function. line is 0 if there is none.
struct TaskLine {
    const char *name;
    const char *file; // NULL: no file
    uint32_t line;
    uint32_t function; // id of the function; 0: unknown
};

struct TaskWait {
    struct TaskLine at; // the texts are owned
    uint64_t hash;
    uint64_t found; // tasks that wait here, in the newest walk
};

struct TaskPoint {
    double at_s; // the middle of the walk
    uint64_t count;
};

// The await chain of one task, from the task's coroutine to the innermost
// await. All texts are owned.
struct TaskChain {
    const char *task;       // name of the task; NULL: no chain
    uint64_t number;        // number of the task; UINT64_MAX: none
    struct TaskLine *lines; // TASK_CHAIN entries, or NULL
    unsigned count;
};

struct CountedTasks {
    struct TaskLine coroutine; // the texts are owned; name NULL: free entry
    uint64_t hash;
    uint32_t function; // id of the function, or 0
    uint64_t found;    // tasks in the newest walk
    uint64_t lowest;   // lowest number of these tasks; UINT64_MAX: none
    struct TaskWait waits[TASK_WAITS];
    struct TaskChain chain; // that of the oldest task in the newest walk
    // Whole walks of the newest minute, the oldest first.
    struct TaskPoint points[TASK_POINTS];
    unsigned point_count;
    // Since the group last shrank, `rises` walks have found more tasks than the
    // walk before, the first at `first_rise_s` and the newest at `rose_s`.
    unsigned rises;
    double first_rise_s, rose_s;
    uint64_t newest_count;
};

// At the time `at_s` a task with this number existed. asyncio counts tasks, so
// all tasks with lower numbers are older.
struct TaskBirth {
    uint64_t number;
    double at_s;
    bool least; // no walk looked before, so the task may be much older
};

struct TaskGroups {           // zeroed: no groups
    struct CountedTasks *all; // TASK_GROUPS entries; NULL: none yet
    unsigned count;           // entries in use, the free ones included
    uint64_t found;           // tasks in the newest walk
    double begun_s;           // time at which the newest walk began
    double last_s;            // the middle of the last whole walk; 0: none
    bool interrupted;         // no walk looked for a while before this walk
    struct TaskBirth births[TASK_BIRTHS]; // the oldest first
    unsigned birth_count;
};

// Begins a walk. Returns false if memory is out.
bool TaskGroups_begin(struct TaskGroups *groups, double now_s);
// No walk looks for a while.
void TaskGroups_interrupt(struct TaskGroups *groups);
// Returns the group of a coroutine. Returns NULL if there are too many groups
// or memory is out. `function` is the id of the function, or 0.
struct CountedTasks *TaskGroups_find(struct TaskGroups *groups,
                                     const struct TaskLine *coroutine,
                                     uint32_t function);
// Returns the entry of a line at which tasks of the group wait, or NULL.
struct TaskWait *TaskGroups_wait(struct CountedTasks *group,
                                 const struct TaskLine *at);
// Counts a task, whose group and wait may be NULL. `number` is the number that
// asyncio has given to the task, or 0.
void TaskGroups_add(struct TaskGroups *groups, struct CountedTasks *group,
                    struct TaskWait *wait, uint64_t number);
// Returns true if the chain of this task is wanted: if the group has none yet,
// or that of a task with a higher number.
bool TaskGroups_wants_chain(const struct CountedTasks *group, uint64_t number);
// Begins the chain of a task of this name.
void TaskGroups_begin_chain(struct CountedTasks *group, const char *task,
                            uint64_t number);
// Adds a line to the chain. A chain that is too long loses the line before.
void TaskGroups_add_line(struct CountedTasks *group,
                         const struct TaskLine *line);
// Notes that tasks with numbers up to `number` exist now.
void TaskGroups_note_birth(struct TaskGroups *groups, uint64_t number,
                           double now_s);
// Ends a whole walk.
void TaskGroups_end(struct TaskGroups *groups, double now_s);
// Returns the groups of the newest walk, or NULL if memory is out. The caller
// owns the table. `whole` is true if the walk is whole.
struct TaskTable *TaskGroups_table(const struct TaskGroups *groups, bool whole,
                                   double now_s);
void TaskGroups_release(struct TaskGroups *groups);

#endif
