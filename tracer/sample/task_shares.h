// SPDX-License-Identifier: MIT
// struct TaskShares has the CPU time of the coroutine functions by which
// asyncio's tasks are grouped. A sample counts for one group: that of the task
// that runs. The sampler's thread writes the times, and any thread may read
// them.
#pragma once

#include "tracer/base/share.h"
#include "tracer/code/code.h"

#define TASK_SHARES 256u // Largest number of groups, a power of 2.

struct TaskShares {
    struct ShareTime begin; // The time at which the sampling of tasks began.
    struct {
        counter_t id; // Id of the coroutine function; 0 if the entry is free.
        struct ShareValue cpu;
    } all[TASK_SHARES];
};

// Finds the coroutine function by which the task of a stack is grouped. A
// zeroed struct TaskOfStack belongs to a stack of which no frame was passed.
struct TaskOfStack {
    const struct Code *group; // NULL if no task runs.
    bool ended;               // No further frame changes `group`.
};

// Passes the next frame of the stack, the outermost frame first. The group is
// the task's outermost coroutine. If that is a library's coroutine, the group
// is the first function of the program's own code in the await chain.
static inline void TaskOfStack_pass(struct TaskOfStack *task,
                                    const struct Code *code)
{
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
