// SPDX-License-Identifier: MIT
// The main view shows three lines about the process, the table of functions or
// the menu of sort columns, and lines about the selected function.
#pragma once

#include "tui/views/view.h"

extern const struct View MAIN_VIEW;
// The latency view is the main view with the columns of latencies.
extern const struct View LATENCY_VIEW;
