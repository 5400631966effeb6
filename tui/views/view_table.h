// SPDX-License-Identifier: MIT
// The table of all views. A new view needs an entry here. The app passes the
// table to the viewer, so views do not include each other. Read-only, any
// thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_TABLE_H
#define OCULAR_TUI_VIEWS_VIEW_TABLE_H

#include "tui/views/view.h"

extern const struct View *const VIEWS[VIEW_COUNT];

#endif
