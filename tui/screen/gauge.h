// SPDX-License-Identifier: MIT
// Small drawings of a number: how hot a share is, a curve of little bars, and
// one long bar. Called by views, on the screen's thread.
#ifndef OCULAR_TUI_SCREEN_GAUGE_H
#define OCULAR_TUI_SCREEN_GAUGE_H

#include "tui/screen/canvas.h"

#include <stddef.h>

// The style of a share; NaN counts as cold.
enum Style Gauge_heat(double share);
// Writes `count` values as one little bar each, scaled to `most`. A value that
// was not measured (NaN) becomes a dot.
void Gauge_trend(char *out, size_t size, const float *values, int count,
                 double most);
// Draws a bar that fills `part` (0 to 1) of the box, to an eighth of a cell.
void Gauge_bar(struct Canvas *canvas, struct Box box, double part,
               uint8_t style);

#endif
