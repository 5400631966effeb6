// SPDX-License-Identifier: MIT
// The callers view shows the callers and callees of one function as a tree with
// shares. The user can unfold each function of the tree, or put the function in
// the middle.
#ifndef OCULAR_TUI_VIEWS_VIEW_CALLERS_H
#define OCULAR_TUI_VIEWS_VIEW_CALLERS_H

#include "tui/views/view.h"

extern const struct View CALLERS_VIEW;

#endif
