// SPDX-License-Identifier: MIT
// The flame view shows CPU time by call path, as boxes whose widths are shares.
// Callers are above their callees. One box is selected. The zoomed box is as
// wide as the screen.
#pragma once

#include "tui/views/view.h"

extern const struct View FLAME_VIEW;
