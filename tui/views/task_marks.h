// SPDX-License-Identifier: MIT
// Decides what is wrong with asyncio tasks, and draws await chains. Views of
// tasks call these functions on the viewer's main thread.
#pragma once

#include "tui/screen/list.h"
#include "tui/views/ui.h"

// Returns the groups of tasks, by their coroutine or by the line that has
// created them.
const struct TaskGroup *TaskMarks_groups(const struct Ui *ui, size_t *count);
// Returns true if the group has only grown for a minute, so that it may be a
// leak.
bool TaskMarks_is_leak(const struct TaskGroup *group);
// Returns true if a task with the age `age_s` takes ten times as long as the
// median of the coroutine's newest calls. Returns false for tasks that are
// grouped by the line that has created them, because their coroutine is not
// known.
bool TaskMarks_is_long(const struct Model *model, const struct TaskGroup *group,
                       double age_s);
// Returns the length in seconds of the longest step that a task of this
// coroutine has in the log of stalls, or NaN. If `task` is not NULL, only steps
// of tasks with this name count.
double TaskMarks_step_s(const struct Snapshot *now,
                        const struct TaskGroup *group, const char *task);
// Writes an age. If the age is a lower bound, `>` comes before it.
void TaskMarks_write_age(struct ListCell *cell, double age_s, bool least,
                         bool is_long);
void TaskMarks_write_step(struct ListCell *cell, double step_s);

// An await chain to draw.
struct TaskChainView {
    const char *task; // Name of the task, or NULL.
    const struct StackPlace *places;
    size_t count;
};

// Draws the chain as a table with titles and up to `height` rows.
void TaskMarks_draw_chain(struct Ui *ui, const struct TaskChainView *chain,
                          struct Box box, int height);
