// SPDX-License-Identifier: MIT
// The bottom line of every view: a question with what is typed, a message, or
// the keys that do something here. Draws only; one thread.
#ifndef OCULAR_TUI_VIEWS_BOTTOM_H
#define OCULAR_TUI_VIEWS_BOTTOM_H

#include "tui/screen/canvas.h"
#include "tui/views/view.h"

// `can`: View_can.
void Bottom_draw(struct Canvas *canvas, int y, const struct View *view,
                 unsigned can, const struct Status *status);

#endif
