// SPDX-License-Identifier: MIT
// Draws the third line of the main screen, which is about the process as a
// whole.
#pragma once

#include "tui/model/model.h"
#include "tui/screen/canvas.h"
#include "tui/views/status.h"

// The model must have a snapshot.
void HeaderWhole_draw(struct Canvas *canvas, const struct Model *model,
                      const struct Status *status);
