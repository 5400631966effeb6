// SPDX-License-Identifier: MIT
// The view of event loops shows the lag and the steps of each loop, the log of
// stalls, and the stack of the selected stall.
#pragma once

#include "tui/views/view.h"

extern const struct View LOOPS_VIEW;
