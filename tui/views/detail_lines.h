// SPDX-License-Identifier: MIT
// Draws the lines below the table of functions. The lines show the full name
// and path of the selected function, and the parts of its share.
#pragma once

#include "tui/model/row.h"
#include "tui/screen/canvas.h"
#include "tui/screen/layout.h"
#include "tui/views/display.h"

void DetailLines_draw(struct Canvas *canvas, const struct Row *row,
                      const struct Layout *layout,
                      const struct Display *display);
