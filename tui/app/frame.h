// SPDX-License-Identifier: MIT
// Draws one frame, that is the front view and the bottom line, on the viewer's
// canvas. Called by the terminal's loop and by the batch, on the viewer's
// thread.
#ifndef OCULAR_TUI_APP_FRAME_H
#define OCULAR_TUI_APP_FRAME_H

#include "tui/views/ui.h"

// A question of the process opens together with the frame that shows it, and
// not while the user answers another one. So the user's keys always answer the
// question that is visible.
void Frame_draw(struct Ui *ui);

#endif
