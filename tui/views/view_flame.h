// SPDX-License-Identifier: MIT
// The flame view: where CPU time goes, by who called whom, as boxes whose
// widths are shares. Callers stand above what they call. One box is selected,
// one is the zoom. One thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_FLAME_H
#define OCULAR_TUI_VIEWS_VIEW_FLAME_H

#include "tui/views/view.h"

// As a row of VIEWS.
extern const struct Binding VIEW_FLAME_KEYS[];
void ViewFlame_open(struct Ui *ui, uint64_t function);
void ViewFlame_want(struct Ui *ui);
void ViewFlame_show(struct Ui *ui, const struct Status *status);
bool ViewFlame_press(struct Ui *ui, int request, uint32_t key);
bool ViewFlame_find(struct Ui *ui, int step, bool here);
void ViewFlame_begin_search(struct Ui *ui);
void ViewFlame_restart_search(struct Ui *ui);
uint64_t ViewFlame_function(const struct Ui *ui);
int ViewFlame_json(const struct Ui *ui, struct Bytes *out);
void ViewFlame_reset(struct Ui *ui);

#endif
