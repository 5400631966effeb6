// SPDX-License-Identifier: MIT
// The annotate view shows a function's source and bytecode, and the
// specialisation, hits and time of each instruction. The view requests the code
// of this function only.
#ifndef OCULAR_TUI_VIEWS_VIEW_ANNOTATE_H
#define OCULAR_TUI_VIEWS_VIEW_ANNOTATE_H

#include "tui/views/view.h"

extern const struct View ANNOTATE_VIEW;

#endif
