// SPDX-License-Identifier: MIT
// Draws the third line of the main screen, which describes the process as a
// whole. view_main.c calls HeaderWhole_draw on the viewer's main thread.
#pragma once

#include "tui/model/model.h"
#include "tui/screen/canvas.h"
#include "tui/views/status.h"

// The model must have a snapshot.
void HeaderWhole_draw(struct Canvas *canvas, const struct Model *model,
                      const struct Status *status);
