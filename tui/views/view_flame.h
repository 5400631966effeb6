// SPDX-License-Identifier: MIT
// The flame view shows CPU time by call path, as boxes whose widths are shares.
// Callers are above their callees. One box is selected. The zoomed box is as
// wide as the screen.
#ifndef OCULAR_TUI_VIEWS_VIEW_FLAME_H
#define OCULAR_TUI_VIEWS_VIEW_FLAME_H

#include "tui/views/view.h"

extern const struct View FLAME_VIEW;

#endif
