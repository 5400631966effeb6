// SPDX-License-Identifier: MIT
// The callers view: callers and callees of one function, as a tree with shares.
// Each function in the tree can be unfolded or put in the middle. One thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_CALLERS_H
#define OCULAR_TUI_VIEWS_VIEW_CALLERS_H

#include "tui/views/view.h"

extern const struct View CALLERS_VIEW;

#endif
