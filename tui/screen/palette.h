// SPDX-License-Identifier: MIT
// The look of each style: colours for terminals with 256 and with 8 or 16
// colours, attributes for terminals without colours. Every foreground colour is
// readable on a dark and on a light background, or has a background of its own.
// terminal.c passes it to curses. Any thread.
#ifndef OCULAR_TUI_SCREEN_PALETTE_H
#define OCULAR_TUI_SCREEN_PALETTE_H

#include "tui/screen/canvas.h"

enum PaletteAttribute { // bits
    PALETTE_BOLD = 1,
    PALETTE_DIM = 2,
    PALETTE_REVERSE = 4,
    PALETTE_UNDERLINE = 8
};

struct Paint {
    short foreground; // colour number; -1: the terminal's own
    short background;
    unsigned attributes;
};

// `colours`: 256, 8 (also for 16) or 0.
struct Paint Palette_paint(uint8_t style, int colours);

#endif
