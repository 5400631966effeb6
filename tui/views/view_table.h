// SPDX-License-Identifier: MIT
// VIEWS is the table of all views. A new view needs an entry in VIEWS. tui/app
// gives the table to struct Ui, so that views need not include each other. The
// table is constant, so any thread may read it.
#pragma once

#include "tui/views/view.h"

extern const struct View *const VIEWS[VIEW_COUNT];
