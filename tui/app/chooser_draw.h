// SPDX-License-Identifier: MIT
// Draws the list of processes.
#pragma once

#include "tui/app/chooser.h"
#include "tui/screen/canvas.h"

void Chooser_draw(struct Chooser *chooser, struct Canvas *canvas);
