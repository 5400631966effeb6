// SPDX-License-Identifier: MIT
// The callers view: callers and callees of one function, as a tree with shares.
// Any function in it can be unfolded, or become the one in the middle. One
// thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_CALLERS_H
#define OCULAR_TUI_VIEWS_VIEW_CALLERS_H

#include "tui/views/view.h"

extern const struct View CALLERS_VIEW;

#endif
