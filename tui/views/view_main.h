// SPDX-License-Identifier: MIT
// The main view shows three lines about the process, the table of functions or
// the menu of sort columns, and lines about the selected function.
#pragma once

#include "tui/model/model.h"
#include "tui/screen/canvas.h"
#include "tui/screen/layout.h"
#include "tui/screen/list.h"
#include "tui/views/view.h"

void ViewMain_draw(struct Canvas *canvas, const struct Model *model,
                   struct List *list, const struct Layout *layout,
                   const struct Status *status);

extern const struct View MAIN_VIEW;
// The latency view is the main view with the columns of latencies.
extern const struct View LATENCY_VIEW;
