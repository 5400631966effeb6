// SPDX-License-Identifier: MIT
// VIEWS is the table of all views. A new view needs an entry in this table.
// tui/app passes the table to struct Ui, so views do not include each other.
// The table is constant, and any thread may read it.
#pragma once

#include "tui/views/view.h"

extern const struct View *const VIEWS[VIEW_COUNT];
