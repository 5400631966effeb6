// SPDX-License-Identifier: MIT
// Draws the first line of every view, which describes the process. Other files
// draw further header lines with the functions of this file.
#pragma once

#include "tui/model/model.h"
#include "tui/screen/strip.h"
#include "tui/views/status.h"

#define HEADER_WIDE 110 // Least screen width for bars.
// Least screen width for words next to the overhead's parts.
#define HEADER_WIDER 140
#define HEADER_WIDEST 170 // Least screen width for long bars.

void Header_draw(struct Canvas *canvas, const struct Model *model,
                 const struct Status *status);
void Header_draw_line(struct Strip *strip, struct Canvas *canvas, int y);
// Adds the time since the reset and the time since the baseline, if the user
// has set them. The model must have a snapshot.
void Header_add_since(struct Strip *strip, const struct Model *model);
// Says that only the program's own code is shown, if the user wants it.
void Header_add_own(struct Strip *strip, const struct Model *model);
// Calls Header_add_own. Adds the filter at the right edge, if there is one. A
// long filter is cut down to `least` cells.
void Header_add_filter(struct Strip *strip, const struct Model *model,
                       int least);
// Adds the share of specialised sites and the rate of deopts. If `sum` is true,
// also adds the number of deopts, and the rate is left out later if the line is
// too short.
void Header_add_specialisation(struct Strip *strip, const struct Model *model,
                               bool sum);
