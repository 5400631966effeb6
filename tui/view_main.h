// SPDX-License-Identifier: MIT
// The main screen: three lines about the process, the table of functions, the
// selected function's line and the bottom line. Draws a model on a canvas and
// changes neither the model nor anything else. One thread.
#ifndef OCULAR_TUI_VIEW_MAIN_H
#define OCULAR_TUI_VIEW_MAIN_H

#include "tui/canvas.h"
#include "tui/layout.h"
#include "tui/model.h"
#include "tui/status.h"

void ViewMain_draw(struct Canvas *canvas, const struct Model *model,
                   const struct Layout *layout, const struct Status *status);
// The bottom line, for every view.
void ViewMain_draw_bottom(struct Canvas *canvas, int y,
                          const struct Status *status);
// One line that asks for a larger terminal.
void ViewMain_draw_small(struct Canvas *canvas);

#endif
