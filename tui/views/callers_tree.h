// SPDX-License-Identifier: MIT
// Draws one branch of the callers view's tree: shares, lines, name and file.
// One thread.
#ifndef OCULAR_TUI_VIEWS_CALLERS_TREE_H
#define OCULAR_TUI_VIEWS_CALLERS_TREE_H

#include "tui/views/ui.h"

void CallersTree_draw(struct Ui *ui, int y, const struct Branch *branch);

#endif
