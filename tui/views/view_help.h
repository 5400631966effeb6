// SPDX-License-Identifier: MIT
// The help explains all keys, columns and marks. The help is shown by the help
// view and by the list of processes.
#pragma once

#include "ipc/snapshot.h"
#include "tui/screen/canvas.h"
#include "tui/views/view.h"

// Draws the help from the line *top on. If *top is too large, reduces it.
// Leaves out keys that need an ability of CAN_REACH which is not in `reach`
// (Navigation_reach). `views` has VIEW_COUNT elements. If `snapshot` is not
// NULL, the help begins with the settings of its trace.
void ViewHelp_draw_page(struct Canvas *canvas, const struct View *const *views,
                        int *top, unsigned reach,
                        const struct Snapshot *snapshot);

extern const struct View HELP_VIEW;
