// SPDX-License-Identifier: MIT
// Draws the lines about the selected function below the table: its full name
// and path, and the parts of its share. One thread.
#ifndef OCULAR_TUI_VIEWS_DETAIL_LINES_H
#define OCULAR_TUI_VIEWS_DETAIL_LINES_H

#include "tui/model/row.h"
#include "tui/screen/canvas.h"
#include "tui/screen/layout.h"
#include "tui/views/display.h"

void DetailLines_draw(struct Canvas *canvas, const struct Row *row,
                      const struct Layout *layout,
                      const struct Display *display);

#endif
