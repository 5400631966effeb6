// SPDX-License-Identifier: MIT
// The help: every key, every column and the meaning of the marks. The help view
// shows it, and the chooser, which has no process. One thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_HELP_H
#define OCULAR_TUI_VIEWS_VIEW_HELP_H

#include "tui/screen/canvas.h"
#include "tui/views/view.h"

// Draws from line *top on, and moves *top into range. Leaves out the keys whose
// abilities are beyond `reach` (Navigation_reach). `views` are VIEW_COUNT.
void ViewHelp_draw_page(struct Canvas *canvas, const struct View *const *views,
                        int *top, unsigned reach);

extern const struct View HELP_VIEW;

#endif
