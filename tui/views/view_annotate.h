// SPDX-License-Identifier: MIT
// The annotate view: one function's source and bytecode, what each instruction
// has become, how often it ran and what it took. It asks the process for the
// code of this function only. One thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_ANNOTATE_H
#define OCULAR_TUI_VIEWS_VIEW_ANNOTATE_H

#include "tui/views/view.h"

extern const struct View ANNOTATE_VIEW;

#endif
