// SPDX-License-Identifier: MIT
// A strip is one line of items on the screen. If the items do not fit, the
// least important items are dropped. The header's lines, the selected
// function's line and the bottom line are strips. Views build new strips for
// each frame.
#pragma once

#include "tui/screen/canvas.h"

#include <stdbool.h>

#define STRIP_ITEMS 32
#define STRIP_SPANS 80
#define STRIP_TEXT 4096

struct StripSpan {
    uint8_t style;
    uint16_t at; // Offset of the first byte in `text`.
};

struct StripItem {
    // Items are dropped from the largest importance on (0 = never).
    int importance;
    int first_span;
    int span_count;
    // Number of cells that stay if the item is cut (0 = it is never cut).
    int flex;
    bool right; // True if the item is at the right edge.
    bool dropped;
    int width; // Width in cells, computed by fit().
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
// Begins a new item. Does nothing if the strip has STRIP_ITEMS items already.
void Strip_item(struct Strip *strip, int importance);
// Allows the newest item to be cut down to `least` cells.
void Strip_flex(struct Strip *strip, int least);
// Moves the newest item, and all later items, to the right edge.
void Strip_right(struct Strip *strip);
// Appends text to the newest item.
void Strip_add(struct Strip *strip, enum Style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Begins a new item with a text.
void Strip_put(struct Strip *strip, int importance, enum Style style,
               const char *format, ...) __attribute__((format(printf, 4, 5)));
// Adds an item that consists of a faint label and a value.
void Strip_label(struct Strip *strip, int importance, const char *label,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
// Fits the items into the box, with `gap` blanks between them, and draws them.
void Strip_draw(struct Strip *strip, struct Canvas *canvas, struct Box box,
                int gap);
