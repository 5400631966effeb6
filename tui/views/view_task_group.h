// SPDX-License-Identifier: MIT
// The view of the single tasks of one coroutine shows their states, their ages,
// and what each task waits for.
#pragma once

#include "tui/views/ui.h"

extern const struct View TASK_GROUP_VIEW;

// Opens the view of the single tasks of a group.
void ViewTaskGroup_open(struct Ui *ui, const struct TaskGroup *group);
