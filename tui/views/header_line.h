// SPDX-License-Identifier: MIT
// What the three lines at the top have in common. Draws only; one thread.
#ifndef OCULAR_TUI_VIEWS_HEADER_LINE_H
#define OCULAR_TUI_VIEWS_HEADER_LINE_H

#include "tui/screen/strip.h"

#define HEADER_WIDE 110   // from this width on there is room for bars,
#define HEADER_WIDER 140  // words beside what the overhead is made of,
#define HEADER_WIDEST 170 // and long bars

void HeaderLine_draw(struct Strip *strip, struct Canvas *canvas, int y);
// Adds an item: a faint label and its value.
void HeaderLine_label(struct Strip *strip, int importance, const char *label,
                      const char *value);

#endif
