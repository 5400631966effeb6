// SPDX-License-Identifier: MIT
// Draws the first line of every view, and parts of the other header lines. The
// first line describes the process. Only one thread calls these functions.
#ifndef OCULAR_TUI_VIEWS_HEADER_H
#define OCULAR_TUI_VIEWS_HEADER_H

#include "tui/model/model.h"
#include "tui/screen/strip.h"
#include "tui/views/status.h"

#define HEADER_WIDE 110   // least width for bars
#define HEADER_WIDER 140  // least width for words next to the overhead's parts
#define HEADER_WIDEST 170 // least width for long bars

void Header_draw(struct Canvas *canvas, const struct Model *model,
                 const struct Status *status);
void Header_draw_line(struct Strip *strip, struct Canvas *canvas, int y);
// Adds the time since the reset and the time since the baseline, if the user
// has set them. The model must have a snapshot.
void Header_add_since(struct Strip *strip, const struct Model *model);
// Adds the share of specialised sites and the rate of deopts. If `sum` is true,
// adds the number of deopts, too, and gives these items more importance.
void Header_add_specialisation(struct Strip *strip, const struct Model *model,
                               bool sum);

#endif
