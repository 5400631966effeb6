// SPDX-License-Identifier: MIT
// Draws the second line of the main screen, about the overhead of tracing. Only
// one thread calls HeaderCost_draw.
#ifndef OCULAR_TUI_VIEWS_HEADER_COST_H
#define OCULAR_TUI_VIEWS_HEADER_COST_H

#include "tui/model/model.h"
#include "tui/screen/canvas.h"

// The model must have a snapshot.
void HeaderCost_draw(struct Canvas *canvas, const struct Model *model);

#endif
