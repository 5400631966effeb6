// SPDX-License-Identifier: MIT
// The compare view shows two runs side by side. Functions that changed by more
// than noise come first. `ocular diff` prints the same table.
#pragma once

#include "tui/model/comparison.h"
#include "tui/screen/list.h"
#include "tui/views/view.h"

extern const struct View COMPARE_VIEW;

// Draws the line of column titles and up to `height` rows.
void ViewCompare_draw(struct Canvas *canvas, struct List *list,
                      const struct Comparison *comparison, struct Box box,
                      int height);
