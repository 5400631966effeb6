// SPDX-License-Identifier: MIT
// Draws the bottom line of every view, which shows a question with the typed
// answer, a message, or the usable keys.
#pragma once

#include "tui/screen/canvas.h"
#include "tui/views/view.h"

struct BottomKeys {
    const struct View *const *views; // VIEW_COUNT views
    enum ViewId front;
    // Bits of enum Ability. Keys that need other abilities are not shown.
    unsigned can;
};

void Bottom_draw(struct Canvas *canvas, int y, struct BottomKeys keys,
                 const struct Status *status);
