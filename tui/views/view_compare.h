// SPDX-License-Identifier: MIT
// The compare view: two runs side by side. Functions that differ by more than
// noise come first. `ocular diff` prints the same table.
#ifndef OCULAR_TUI_VIEWS_VIEW_COMPARE_H
#define OCULAR_TUI_VIEWS_VIEW_COMPARE_H

#include "tui/model/comparison.h"
#include "tui/screen/list.h"
#include "tui/views/view.h"

extern const struct View COMPARE_VIEW;

// Draws up to `height` rows below a line of titles.
void ViewCompare_draw(struct Canvas *canvas, struct List *list,
                      const struct Comparison *comparison, struct Box box,
                      int height);

#endif
