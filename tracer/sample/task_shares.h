// SPDX-License-Identifier: MIT
// Ocular groups asyncio's tasks by coroutine functions. struct TaskShares has
// the CPU time of each group. Each sample counts for the group of the task that
// runs. The sampler's thread writes the times, and any thread may read them.
#pragma once

#include "tracer/base/share.h"
#include "tracer/code/code.h"

#define TASK_SHARES 256u // Largest number of groups, a power of 2.

// The table of single tasks has SINGLE_SETS sets of SINGLE_WAYS entries.
// SINGLE_SETS is a power of 2.
#define SINGLE_SETS 64u
#define SINGLE_WAYS 16u

// The CPU time of a single task. The thread that reads tasks writes all fields
// except `cpu`, which also has the time of earlier tasks of the entry.
struct SingleShare {
    counter_t root;  // Address of the outermost coroutine's frame, or 0.
    counter_t ticks; // Samples before this time are those of other tasks.
    uint64_t key;    // Identifies the task.
    double read_ns;  // ShareTime.ns at which the entry was last read.
    struct ShareTime begin; // The time at which the task got the entry.
    double before_ns;       // ns of CPU time in the window at `begin`.
    struct ShareValue cpu;
};

struct TaskShares {
    struct ShareTime begin; // The time at which the sampling of tasks began.
    struct {
        // Id of the coroutine function, or 0 if the entry is free.
        counter_t id;
        struct ShareValue cpu;
    } all[TASK_SHARES];
    struct SingleShare singles[SINGLE_SETS][SINGLE_WAYS];
};

// Finds the coroutine function by which the task of a sampled stack is grouped.
// All fields are 0 before the first frame of a stack.
struct TaskOfStack {
    const struct Code *group; // NULL if no task runs.
    bool ended; // True if no further frame of the task changes `group`.
    // Number of frames from the task's outermost coroutine to the outermost
    // frame of the stack.
    unsigned height;
};

// TaskOfStack_pass is called for each frame of the stack, from the outermost to
// the innermost. The group is the task's outermost coroutine. If a library owns
// that coroutine, the group is the first coroutine of the program's own code in
// the await chain. `called` is true if a call runs the frame, and no await. A
// called coroutine is that of another task, which begins eagerly or in a loop
// that a task runs. `height` is the number of frames up to the outermost one.
static inline void TaskOfStack_pass(struct TaskOfStack *task,
                                    const struct Code *code, unsigned height,
                                    bool called)
{
    if (called && code->who.coroutine)
        *task = (struct TaskOfStack){.group = NULL};
    if (task->ended || (!task->group && !code->who.coroutine))
        return;
    if (!task->group)
        task->height = height;
    task->ended = code->who.own || code->hot.enter_hook != HOOK_RESUME;
    if (!task->group || (code->who.own && code->hot.enter_hook == HOOK_RESUME))
        task->group = code;
}

// Credits CPU time to a group. If there are too many groups, the time is lost.
void TaskShares_add(struct TaskShares *shares, const struct Code *group,
                    struct ShareCredit *credit);
// Returns the share of a core that the group of a coroutine function has had in
// the newest seconds, or NaN in the first second.
double TaskShares_read(const struct TaskShares *shares, uint32_t id,
                       const struct ShareTime *now);

// Credits CPU time to the single task with this root, if it is known. The
// sample was taken at the time `ticks`.
void TaskShares_add_single(struct TaskShares *shares, uintptr_t root,
                           uint64_t ticks, struct ShareCredit *credit);
// Returns the share of a core that a single task has had in the newest seconds.
// Its samples are taken from the first call on, at the time `ticks`. Returns
// NaN in the first second, or if too many tasks are read. Only the thread that
// reads tasks calls this function.
double TaskShares_read_single(struct TaskShares *shares, uintptr_t root,
                              uint64_t key, uint64_t ticks,
                              const struct ShareTime *now);
