// SPDX-License-Identifier: MIT
// Draws the list of processes. pick.c calls Chooser_draw on the main thread.
#ifndef OCULAR_TUI_APP_CHOOSER_DRAW_H
#define OCULAR_TUI_APP_CHOOSER_DRAW_H

#include "tui/app/chooser.h"
#include "tui/screen/canvas.h"

void Chooser_draw(struct Chooser *chooser, struct Canvas *canvas);

#endif
