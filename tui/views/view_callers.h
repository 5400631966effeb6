// SPDX-License-Identifier: MIT
// The callers view shows the callers and callees of one function as a tree with
// shares. The user can unfold each function of the tree, or put it into the
// middle.
#pragma once

#include "tui/views/view.h"

extern const struct View CALLERS_VIEW;
