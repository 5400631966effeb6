// SPDX-License-Identifier: MIT
// The annotate view: a function's source and bytecode, and for each instruction
// its specialisation, its hits and its time. The view requests only the code of
// this function. One thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_ANNOTATE_H
#define OCULAR_TUI_VIEWS_VIEW_ANNOTATE_H

#include "tui/views/view.h"

extern const struct View ANNOTATE_VIEW;

#endif
