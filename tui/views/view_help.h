// SPDX-License-Identifier: MIT
// The help explains all keys, columns and marks. The help view and the chooser
// show the help.
#pragma once

#include "ipc/snapshot.h"
#include "tui/screen/canvas.h"
#include "tui/views/view.h"

// Draws the help from line *top on, and limits *top to a valid line. Leaves out
// a key if it needs an ability of CAN_REACH that `reach` does not have
// (Navigation_reach). `views` has VIEW_COUNT elements. If `snapshot` is not
// NULL, the help begins with the settings of the snapshot's trace.
void ViewHelp_draw_page(struct Canvas *canvas, const struct View *const *views,
                        int *top, unsigned reach,
                        const struct Snapshot *snapshot);

extern const struct View HELP_VIEW;
