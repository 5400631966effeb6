// SPDX-License-Identifier: MIT
// Draws one frame on the viewer's canvas: the front view and the bottom line.
// live.c and batch.c call Frame_draw on the viewer's thread.
#ifndef OCULAR_TUI_APP_FRAME_H
#define OCULAR_TUI_APP_FRAME_H

#include "tui/views/ui.h"

// If a question is pending, opens the question and shows it in the same frame.
// While the user answers another question, the pending question waits.
// So the user's keys always answer the visible question.
void Frame_draw(struct Ui *ui);

#endif
