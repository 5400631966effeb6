// SPDX-License-Identifier: MIT
// The tasks view shows asyncio's tasks in groups, one for each coroutine. The
// process reads its tasks only while a view asks for them.
#ifndef OCULAR_TUI_VIEWS_VIEW_TASKS_H
#define OCULAR_TUI_VIEWS_VIEW_TASKS_H

#include "tui/views/view.h"

extern const struct View TASKS_VIEW;

#endif
