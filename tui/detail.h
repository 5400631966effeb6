// SPDX-License-Identifier: MIT
// The selected function's lines, below the table: its full name and path, and
// its share taken apart. Draws only; one thread.
#ifndef OCULAR_TUI_DETAIL_H
#define OCULAR_TUI_DETAIL_H

#include "tui/canvas.h"
#include "tui/layout.h"
#include "tui/model.h"

void Detail_draw(struct Canvas *canvas, const struct Model *model,
                 const struct Layout *layout, const struct Look *look);

#endif
