// SPDX-License-Identifier: MIT
// Draws what the time of a function's calls is made of, as one line: a bar, and
// a legend in words. The time includes the functions that it called, and its
// awaits. Only one thread calls TimeBar_draw.
#pragma once

#include "tui/model/row.h"
#include "tui/screen/canvas.h"

// Draws nothing if the parts are not known. `snapshot` may have asyncio's
// tasks, which say in which function a coroutine awaits, and what.
void TimeBar_draw(struct Canvas *canvas, struct Box box, const struct Row *row,
                  const struct Snapshot *snapshot);

// Returns true if asyncio's tasks can say more about the time of the row's
// function. `row` may be NULL.
bool TimeBar_wants_tasks(const struct Row *row);

// Returns the style of a kind of waits (enum WaitKind).
enum Style TimeBar_style(unsigned kind);
