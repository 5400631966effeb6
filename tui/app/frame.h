// SPDX-License-Identifier: MIT
// Draws one frame on the viewer's canvas. A frame consists of the front view
// and the bottom line. live.c and batch.c call Frame_draw on the viewer's
// thread.
#pragma once

#include "tui/views/ui.h"

// If a question for the user is pending, opens it, so that this frame shows it.
// A new question waits while the user answers an earlier one. The user's keys
// therefore always answer the visible question.
void Frame_draw(struct Ui *ui);
