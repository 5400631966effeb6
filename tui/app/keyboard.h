// SPDX-License-Identifier: MIT
// What a key does to a screen: it changes the model, opens a prompt or asks
// something of the process. Used by main and batch, on the screen's thread.
#ifndef OCULAR_TUI_APP_KEYBOARD_H
#define OCULAR_TUI_APP_KEYBOARD_H

#include "tui/app/screen.h"

void Keyboard_press(struct Screen *screen, uint32_t key);

#endif
