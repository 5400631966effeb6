// SPDX-License-Identifier: MIT
// One frame: the view in front and the bottom line, on the viewer's canvas.
// Called by the terminal's loop and by the batch, on the viewer's thread.
#ifndef OCULAR_TUI_APP_FRAME_H
#define OCULAR_TUI_APP_FRAME_H

#include "tui/views/ui.h"

// A question that the process has raised comes up with the frame that shows it,
// and not while the user answers another one: what the user types answers what
// the user sees.
void Frame_draw(struct Ui *ui);

#endif
