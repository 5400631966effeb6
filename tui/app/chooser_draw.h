// SPDX-License-Identifier: MIT
// Draws the list of processes. pick.c calls Chooser_draw on the main thread.
#pragma once

#include "tui/app/chooser.h"
#include "tui/screen/canvas.h"

void Chooser_draw(struct Chooser *chooser, struct Canvas *canvas);
