// SPDX-License-Identifier: MIT
// Draws the bottom line of every view, which shows a question with the typed
// answer, a message, or the usable keys.
#pragma once

#include "tui/views/ui.h"

void Bottom_draw(struct Ui *ui);
