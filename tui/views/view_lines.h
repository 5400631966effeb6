// SPDX-License-Identifier: MIT
// The lines view shows the source lines that take the most CPU time, over all
// functions.
#pragma once

#include "tui/views/view.h"

extern const struct View LINES_VIEW;
