// SPDX-License-Identifier: MIT
// The help's page: every key, every column and what the marks mean, from the
// tables that drive them. Drawn by the help view, and by the chooser, which has
// no process. One thread.
#ifndef OCULAR_TUI_VIEWS_HELP_PAGE_H
#define OCULAR_TUI_VIEWS_HELP_PAGE_H

#include "tui/screen/canvas.h"
#include "tui/views/view.h"

// Draws from line *top on, and moves *top into range. Leaves out the keys whose
// abilities are beyond `reach` (Navigation_reach). `views` are VIEW_COUNT.
void HelpPage_draw(struct Canvas *canvas, const struct View *views, int *top,
                   unsigned reach);

#endif
