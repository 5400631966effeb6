// SPDX-License-Identifier: MIT
// The flame view shows CPU time by paths of callers, as boxes whose widths
// stand for shares. A caller is above its callees. One box is selected. The
// zoomed box is as wide as the screen.
#pragma once

#include "tui/views/view.h"

extern const struct View FLAME_VIEW;
