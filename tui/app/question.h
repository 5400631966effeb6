// SPDX-License-Identifier: MIT
// Asks the user questions on the bottom line and acts on the answers. The
// answers are texts to search for, filters, file names, budgets and times. The
// keyboard calls these functions on the viewer's thread.
#ifndef OCULAR_TUI_APP_QUESTION_H
#define OCULAR_TUI_APP_QUESTION_H

#include "tui/views/ui.h"

void Question_open(struct Ui *ui, enum PromptKind kind);
void Question_press(struct Ui *ui, uint32_t key);
// Goes to the next (step 1) or previous (step -1) match of the last search.
void Question_find(struct Ui *ui, int step);

#endif
