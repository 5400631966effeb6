// SPDX-License-Identifier: MIT
// One line of items that drop, least important first, until the rest fits:
// the header lines, the selected function's line and the keys. Built anew for
// each frame, by views, on the screen's thread.
#ifndef OCULAR_TUI_SCREEN_STRIP_H
#define OCULAR_TUI_SCREEN_STRIP_H

#include "tui/screen/canvas.h"

#include <stdbool.h>

#define STRIP_ITEMS 32
#define STRIP_SPANS 80
#define STRIP_TEXT 4096

struct StripSpan {
    uint8_t style;
    uint16_t at; // in text
};

struct StripItem {
    int importance; // the largest number drops first; 0 never drops
    int first_span;
    int span_count;
    int flex;   // least width when it may be cut, 0 = never cut
    bool right; // against the right edge
    bool dropped;
    int width; // as fitted
};

struct Strip {
    struct StripItem items[STRIP_ITEMS];
    int item_count;
    struct StripSpan spans[STRIP_SPANS];
    int span_count;
    char text[STRIP_TEXT];
    size_t used;
};

void Strip_init(struct Strip *strip);
// Begins an item. Beyond STRIP_ITEMS it is left out.
void Strip_item(struct Strip *strip, int importance);
// The item begun last may be cut down to `least` cells.
void Strip_flex(struct Strip *strip, int least);
// The item begun last, and those after it, stand at the right.
void Strip_right(struct Strip *strip);
// Adds text to the item begun last.
void Strip_add(struct Strip *strip, enum Style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Fits the items into the box, `gap` blanks between them, and draws.
void Strip_draw(struct Strip *strip, struct Canvas *canvas, struct Box box,
                int gap);

#endif
