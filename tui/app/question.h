// SPDX-License-Identifier: MIT
// Asks the user questions on the bottom line, and carries out the answers. An
// answer is a text to search for, a filter, a file name, a budget or a time.
// keyboard.c calls these functions on the viewer's thread.
#pragma once

#include "tui/views/ui.h"

void Question_open(struct Ui *ui, enum PromptKind kind);
void Question_press(struct Ui *ui, uint32_t key);
// Selects the next match (step 1) or the previous match (step -1) of the last
// search.
void Question_find(struct Ui *ui, int step);
