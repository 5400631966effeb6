// SPDX-License-Identifier: MIT
// The notice in place of everything, where the terminal is too small. Any
// thread.
#ifndef OCULAR_TUI_SCREEN_TOO_SMALL_H
#define OCULAR_TUI_SCREEN_TOO_SMALL_H

#include "tui/screen/canvas.h"

// One line that asks for a larger terminal.
void TooSmall_draw(struct Canvas *canvas);

#endif
