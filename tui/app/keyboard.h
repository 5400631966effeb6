// SPDX-License-Identifier: MIT
// What a key does to a screen: it changes the model, opens a prompt or asks
// something of the process. Used by main and batch, on the screen's thread.
#ifndef OCULAR_TUI_APP_KEYBOARD_H
#define OCULAR_TUI_APP_KEYBOARD_H

#include "tui/views/ui.h"

void Keyboard_press(struct Ui *ui, uint32_t key);

#endif
