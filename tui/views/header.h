// SPDX-License-Identifier: MIT
// The first line of every view, which is about the process, and parts of the
// lines below it. Draws only; one thread.
#ifndef OCULAR_TUI_VIEWS_HEADER_H
#define OCULAR_TUI_VIEWS_HEADER_H

#include "tui/model/model.h"
#include "tui/screen/strip.h"
#include "tui/views/status.h"

#define HEADER_WIDE 110   // from this width on there is room for bars,
#define HEADER_WIDER 140  // words beside what the overhead is made of,
#define HEADER_WIDEST 170 // and long bars

void Header_draw(struct Canvas *canvas, const struct Model *model,
                 const struct Status *status);
void Header_draw_line(struct Strip *strip, struct Canvas *canvas, int y);
// Adds the time since the reset and since the baseline, if there is one. The
// model must have a snapshot.
void Header_add_since(struct Strip *strip, const struct Model *model);
// Adds the share of sites that are specialised and the rate of deopts. `sum`:
// their sum, too, and there they are more important.
void Header_add_specialisation(struct Strip *strip, const struct Model *model,
                               bool sum);

#endif
