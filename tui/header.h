// SPDX-License-Identifier: MIT
// The three lines at the top of the main screen: who is watched, what watching
// costs, and how it fares as a whole. Draws only; one thread.
#ifndef OCULAR_TUI_HEADER_H
#define OCULAR_TUI_HEADER_H

#include "tui/canvas.h"
#include "tui/model.h"
#include "tui/status.h"

void Header_draw(struct Canvas *canvas, const struct Model *model,
                 const struct Status *status);

#endif
