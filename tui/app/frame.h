// SPDX-License-Identifier: MIT
// Draws one frame on the viewer's canvas: the front view and the bottom line.
// live.c and batch.c call Frame_draw on the viewer's thread.
#pragma once

#include "tui/views/ui.h"

// If a question waits to be asked, opens it, so that the same frame shows it.
// While the user still answers an earlier question, the new question waits. So
// the user's keys always answer the question that is visible.
void Frame_draw(struct Ui *ui);
