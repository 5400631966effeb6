// SPDX-License-Identifier: MIT
// The lines at the top: who is watched, in every view; on the main screen what
// watching costs, and how it fares as a whole. Draws only; one thread.
#ifndef OCULAR_TUI_VIEWS_HEADER_H
#define OCULAR_TUI_VIEWS_HEADER_H

#include "tui/model/model.h"
#include "tui/screen/canvas.h"
#include "tui/views/status.h"

void Header_draw(struct Canvas *canvas, const struct Model *model,
                 const struct Status *status);
// Its first line alone.
void Header_draw_process(struct Canvas *canvas, const struct Model *model,
                         const struct Status *status);

#endif
