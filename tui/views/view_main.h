// SPDX-License-Identifier: MIT
// The main view: three lines about the process, the table of functions, or the
// menu of columns to sort it by, and the selected function's lines. One thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_MAIN_H
#define OCULAR_TUI_VIEWS_VIEW_MAIN_H

#include "tui/model/model.h"
#include "tui/screen/canvas.h"
#include "tui/screen/layout.h"
#include "tui/screen/list.h"
#include "tui/views/view.h"

void ViewMain_draw(struct Canvas *canvas, const struct Model *model,
                   struct List *list, const struct Layout *layout,
                   const struct Status *status);

// As a row of VIEWS.
void ViewMain_show(struct Ui *ui, const struct Status *status);
bool ViewMain_press(struct Ui *ui, int request, uint32_t key);
bool ViewMain_find(struct Ui *ui, int step, bool here);
uint64_t ViewMain_function(const struct Ui *ui);

#endif
