// SPDX-License-Identifier: MIT
// Draws one frame on the viewer's canvas: the front view and the bottom line.
// live.c and batch.c call Frame_draw on the viewer's thread.
#ifndef OCULAR_TUI_APP_FRAME_H
#define OCULAR_TUI_APP_FRAME_H

#include "tui/views/ui.h"

// Opens a pending question in the same frame that first shows the question, but
// not while the user answers another question. So the user's keys always answer
// the visible question.
void Frame_draw(struct Ui *ui);

#endif
