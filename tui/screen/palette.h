// SPDX-License-Identifier: MIT
// The palette says how each style looks. A style is a colour on terminals with
// 256, 16 or 8 colours, and an attribute on terminals without colours. Every
// text is readable on a dark and on a light background, or has a background of
// its own. terminal.c passes the colours to curses. Any thread may call
// Palette_paint.
#pragma once

#include "tui/screen/canvas.h"

enum PaletteAttribute { // Bits of Paint.attributes.
    PALETTE_BOLD = 1,
    PALETTE_DIM = 2,
    PALETTE_REVERSE = 4,
    PALETTE_UNDERLINE = 8
};

struct Paint {
    short foreground; // Colour number (-1 = the terminal's own).
    short background;
    unsigned attributes;
};

// `colours` is 256, 8 or 0. A terminal with 16 colours counts as a terminal
// with 8 colours.
struct Paint Palette_paint(uint8_t style, int colours);
