// SPDX-License-Identifier: MIT
// Decides what is wrong with tasks of asyncio, and draws an await chain. The
// views of tasks call these functions on the viewer's main thread.
#pragma once

#include "tui/screen/list.h"
#include "tui/views/ui.h"

// Returns the groups of tasks by coroutine, or by place.
const struct TaskGroup *TaskMarks_groups(const struct Ui *ui, size_t *count);
// Returns true if the group of tasks has only grown for a minute.
bool TaskMarks_is_leak(const struct TaskGroup *group);
// Returns true if a task of the group that has existed for `age_s` seconds
// takes ten times as long as half of the coroutine's newest calls took. This is
// not known for the tasks of a place.
bool TaskMarks_is_long(const struct Model *model, const struct TaskGroup *group,
                       double age_s);
// Returns the seconds of the longest step of an event loop in the log of stalls
// that a task of this coroutine made, or NaN. If `task` is not NULL, only steps
// of the task with this name count.
double TaskMarks_step_s(const struct Snapshot *now,
                        const struct TaskGroup *group, const char *task);
// Writes an age, with `>` before it if it is a lower bound.
void TaskMarks_write_age(struct ListCell *cell, double age_s, bool least,
                         bool is_long);
void TaskMarks_write_step(struct ListCell *cell, double step_s);

// An await chain to draw.
struct TaskChainView {
    const char *task; // Name of the task, or NULL.
    const struct StackPlace *places;
    size_t count;
};

// Draws the chain as a table with up to `height` rows below its titles.
void TaskMarks_draw_chain(struct Ui *ui, const struct TaskChainView *chain,
                          struct Box box, int height);
