// SPDX-License-Identifier: MIT
// Draws one line about the parts of the time of a function's calls. The line
// has a bar and a legend in words. The time of a call includes the functions
// that it has called, and the awaits. TimeBar_draw may be called by one thread
// only.
#pragma once

#include "tui/model/row.h"
#include "tui/screen/canvas.h"

// Draws nothing if the parts of the time are not known. If `snapshot` has
// asyncio's tasks, the legend also says what a coroutine awaits, and in which
// function.
void TimeBar_draw(struct Canvas *canvas, struct Box box, const struct Row *row,
                  const struct Snapshot *snapshot);

// Returns true if the row's function has awaits, so that asyncio's tasks can
// say more about its time. `row` may be NULL.
bool TimeBar_wants_tasks(const struct Row *row);

// Returns the style of a kind of waits (enum WaitKind).
enum Style TimeBar_style(unsigned kind);
