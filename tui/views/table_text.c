// SPDX-License-Identifier: MIT
// See table_text.h.
#include "tui/views/table_text.h"

#include "tui/screen/gauge.h"
#include "tui/text/number.h"

#include <math.h>
#include <stdio.h>

void TableText_put(struct TableText *out, enum Style style, const char *text)
{
    snprintf(out->text, sizeof out->text, "%s", text);
    out->style = (uint8_t)style;
}

// Null is a blank cell: rows full of dashes would be noise.
void TableText_number(struct TableText *out, double value,
                      const char *(*format)(char *, double))
{
    char text[NUMBER_MAX];
    TableText_put(out, STYLE_PLAIN, isfinite(value) ? format(text, value) : "");
}

void TableText_cycles(struct TableText *out, double cycles,
                      const struct Display *display)
{
    char text[NUMBER_MAX];
    TableText_put(out, STYLE_PLAIN,
                  isfinite(cycles) ? Display_cycles(text, cycles, display)
                                   : "");
}

void TableText_cost(struct TableText *out, double cycles,
                    const struct Display *display)
{
    char text[NUMBER_MAX];
    TableText_put(out, STYLE_PLAIN,
                  isfinite(cycles) ? Display_cost(text, cycles, display) : "");
}

// A share that rests on few samples is dimmed; one that rests on none is blank.
void TableText_share(struct TableText *out, const struct Window *window,
                     double share)
{
    char text[NUMBER_MAX];
    enum Basis basis = Window_share(text, window, share);
    TableText_put(out, basis == BASIS_FINE ? Gauge_heat(share) : STYLE_FAINT,
                  text);
}
