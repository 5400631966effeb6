// SPDX-License-Identifier: MIT
// The bottom line of every view: a question with what is typed, a message, or
// the keys that do something here. Draws only; one thread.
#ifndef OCULAR_TUI_VIEWS_BOTTOM_H
#define OCULAR_TUI_VIEWS_BOTTOM_H

#include "tui/screen/canvas.h"
#include "tui/views/view.h"

struct BottomKeys {
    const struct View *const *views; // VIEW_COUNT of them
    enum ViewId front;
    unsigned can; // enum Ability: a key that needs another one is not offered
};

void Bottom_draw(struct Canvas *canvas, int y, struct BottomKeys keys,
                 const struct Status *status);

#endif
