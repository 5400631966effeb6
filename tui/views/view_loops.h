// SPDX-License-Identifier: MIT
// The view of event loops shows the lag and the steps of each loop, the log of
// stalls, and the stack of the selected stall.
#ifndef OCULAR_TUI_VIEWS_VIEW_LOOPS_H
#define OCULAR_TUI_VIEWS_VIEW_LOOPS_H

#include "tui/views/view.h"

extern const struct View LOOPS_VIEW;

#endif
