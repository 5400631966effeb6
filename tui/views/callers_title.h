// SPDX-License-Identifier: MIT
// The callers view's own line: the function in the middle, and the window. One
// thread.
#ifndef OCULAR_TUI_VIEWS_CALLERS_TITLE_H
#define OCULAR_TUI_VIEWS_CALLERS_TITLE_H

#include "tui/views/ui.h"

void CallersTitle_draw(struct Ui *ui);

#endif
