// SPDX-License-Identifier: MIT
// The flame view: where CPU time goes, by who called whom, as boxes whose
// widths are shares. Callers stand above what they call. One box is selected,
// one is the zoom. One thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_FLAME_H
#define OCULAR_TUI_VIEWS_VIEW_FLAME_H

#include "tui/views/view.h"

extern const struct View FLAME_VIEW;

#endif
