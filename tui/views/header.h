// SPDX-License-Identifier: MIT
// The lines at the top: the process, in every view; on the main screen also
// what watching costs, and how the process fares. Draws only; one thread.
#ifndef OCULAR_TUI_VIEWS_HEADER_H
#define OCULAR_TUI_VIEWS_HEADER_H

#include "tui/model/model.h"
#include "tui/screen/canvas.h"
#include "tui/views/status.h"

void Header_draw(struct Canvas *canvas, const struct Model *model,
                 const struct Status *status);
// The first line alone.
void Header_draw_process(struct Canvas *canvas, const struct Model *model,
                         const struct Status *status);

#endif
