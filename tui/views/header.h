// SPDX-License-Identifier: MIT
// Draws the first line of every view, which is about the process. Other files
// use these functions to draw more lines of the header.
#pragma once

#include "tui/model/model.h"
#include "tui/screen/strip.h"
#include "tui/views/status.h"

#define HEADER_WIDE 110 // Least width of the screen for bars.
// Least width of the screen for words next to the parts of the overhead.
#define HEADER_WIDER 140
#define HEADER_WIDEST 170 // Least width of the screen for long bars.

void Header_draw(struct Canvas *canvas, const struct Model *model,
                 const struct Status *status);
void Header_draw_line(struct Strip *strip, struct Canvas *canvas, int y);
// Adds the times since the reset and since the baseline, as far as the user has
// set them. The model must have a snapshot.
void Header_add_since(struct Strip *strip, const struct Model *model);
// If only the program's own code is shown, says so.
void Header_add_own(struct Strip *strip, const struct Model *model);
// Calls Header_add_own. If there is a filter, adds it at the right edge. A long
// filter may be cut to `least` cells.
void Header_add_filter(struct Strip *strip, const struct Model *model,
                       int least);
// Adds the share of specialised instructions, and the rate at which
// instructions lose their specialised form (deopts). If `sum` is true, also
// adds the number of these losses, and the rate is dropped later if the line is
// too short.
void Header_add_specialisation(struct Strip *strip, const struct Model *model,
                               bool sum);
