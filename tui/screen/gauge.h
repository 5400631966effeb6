// SPDX-License-Identifier: MIT
// Draws numbers. A share has a colour, and numbers can be drawn as a curve of
// small bars or as one long bar. Views call these functions on the viewer's
// thread.
#pragma once

#include "tui/screen/canvas.h"

#include <stddef.h>

// Returns the style of a share. A share that is NaN counts as 0.
enum Style Gauge_heat(double share);
// Writes a small bar for each of the `count` values, scaled to `most`. A value
// that was not measured (NaN) gets a dot.
void Gauge_trend(char *out, size_t size, const float *values, int count,
                 double most);
// Draws a bar over the fraction `part` (0 to 1) of the box, with a precision of
// an eighth of a cell.
void Gauge_bar(struct Canvas *canvas, struct Box box, double part,
               uint8_t style);
