// SPDX-License-Identifier: MIT
// Draws the second line of the main screen, which shows the overhead of
// tracing.
#pragma once

#include "tui/model/model.h"
#include "tui/screen/canvas.h"

// The model must have a snapshot.
void HeaderCost_draw(struct Canvas *canvas, const struct Model *model);
