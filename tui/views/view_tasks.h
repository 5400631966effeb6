// SPDX-License-Identifier: MIT
// The tasks view shows asyncio's tasks in groups, one for each coroutine. The
// process reads its tasks only while a viewer asks for them.
#pragma once

#include "tui/views/view.h"

extern const struct View TASKS_VIEW;
