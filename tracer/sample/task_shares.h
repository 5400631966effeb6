// SPDX-License-Identifier: MIT
// Ocular groups asyncio's tasks by coroutine functions. struct TaskShares has
// the CPU time of each group. Each sample counts for the group of the task that
// runs. The sampler's thread writes the times, and any thread may read them.
#pragma once

#include "tracer/base/share.h"
#include "tracer/code/code.h"

#define TASK_SHARES 256u // Largest number of groups, a power of 2.

struct TaskShares {
    struct ShareTime begin; // The time at which the sampling of tasks began.
    struct {
        // Id of the coroutine function, or 0 if the entry is free.
        counter_t id;
        struct ShareValue cpu;
    } all[TASK_SHARES];
};

// Finds the coroutine function by which the task of a sampled stack is grouped.
// All fields are 0 before the first frame of a stack.
struct TaskOfStack {
    const struct Code *group; // NULL if no task runs.
    bool ended; // True if no further frame of the task changes `group`.
};

// TaskOfStack_pass is called for each frame of the stack, from the outermost to
// the innermost. The group is the task's outermost coroutine. If a library owns
// that coroutine, the group is the first coroutine of the program's own code in
// the await chain. `called` is true if a call runs the frame, and no await. A
// called coroutine is that of another task, which begins eagerly or in a loop
// that a task runs.
static inline void TaskOfStack_pass(struct TaskOfStack *task,
                                    const struct Code *code, bool called)
{
    if (called && code->who.coroutine)
        *task = (struct TaskOfStack){NULL};
    if (task->ended || (!task->group && !code->who.coroutine))
        return;
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
