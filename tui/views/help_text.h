// SPDX-License-Identifier: MIT
// A text of terms with what each of them means, broken into lines. One thread.
#ifndef OCULAR_TUI_VIEWS_HELP_TEXT_H
#define OCULAR_TUI_VIEWS_HELP_TEXT_H

#include "tui/screen/canvas.h"

#define HELP_LINES 240

struct HelpLine {
    char term[64];
    uint8_t style;    // of the term
    const char *text; // NULL: the term is a heading
    int length;       // of text, in bytes
};

struct HelpText {
    int term; // cells of the terms
    int room; // cells of the texts; a longer one goes on in the next line
    struct HelpLine lines[HELP_LINES];
    int count;
};

// Beyond HELP_LINES nothing is added.
void HelpText_add(struct HelpText *help, enum Style style, const char *term,
                  const char *text);
// Begins a part, with a blank line before it.
void HelpText_heading(struct HelpText *help, const char *heading);
// Draws from line `top` on, from the box's line to the last but one of the
// canvas.
void HelpText_draw(const struct HelpText *help, struct Canvas *canvas, int top,
                   struct Box box);

#endif
