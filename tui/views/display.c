// SPDX-License-Identifier: MIT
#include "tui/views/display.h"

#include "tui/screen/gauge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Ocular subtracts the cost of the hooks from the time of a call. The error of
// this cost is about LEAST_NS. If a call takes less than LEAST_NS, its measured
// time may therefore be anything from 0 to LEAST_NS.
#define LEAST_NS 20.0

const struct StateMark STATE_MARKS[] = {[STATE_ARMED] = {"●", STYLE_ARMED},
                                        [STATE_PARTIAL] = {"◐", STYLE_PARTIAL},
                                        [STATE_DARK] = {"○", STYLE_DARK}};

const char *Display_cycles(char out[NUMBER_MAX], double cycles,
                           const struct Display *display)
{
    if (display->ns && display->tsc_hz > 0)
        return Number_ns(out, cycles / display->tsc_hz * 1e9);
    return Number_count(out, cycles);
}

const char *Display_cost(char out[NUMBER_MAX], double cycles,
                         const struct Display *display)
{
    double least = ceil(LEAST_NS * display->tsc_hz / 1e9);
    if (!(display->tsc_hz > 0) || !(cycles < least))
        return Display_cycles(out, cycles, display);
    snprintf(out, NUMBER_MAX, display->ns ? "<%.0fns" : "<%.0f",
             display->ns ? LEAST_NS : least);
    return out;
}

const char *Display_mean(char out[NUMBER_MAX], double cycles,
                         const struct Display *display)
{
    return cycles < 1 ? Display_cost(out, cycles, display)
                      : Display_cycles(out, cycles, display);
}

// --- Cells

// NaN becomes a blank cell, because a row full of dashes would be distracting.
void ListCell_number(struct ListCell *out, double value,
                     const char *(*format)(char *, double))
{
    char text[NUMBER_MAX];
    ListCell_put(out, STYLE_PLAIN, isfinite(value) ? format(text, value) : "");
}

void ListCell_marked(struct ListCell *out, const char *mark, double value,
                     const char *(*format)(char *, double))
{
    char number[NUMBER_MAX], text[NUMBER_MAX + 2];
    snprintf(text, sizeof text, "%s%s", mark, format(number, value));
    ListCell_put(out, value > 0 ? STYLE_PLAIN : STYLE_FAINT,
                 isfinite(value) ? text : "");
}

void ListCell_cycles(struct ListCell *out, double cycles,
                     const struct Display *display)
{
    char text[NUMBER_MAX];
    ListCell_put(out, STYLE_PLAIN,
                 isfinite(cycles) ? Display_cycles(text, cycles, display) : "");
}

void ListCell_seconds(struct ListCell *out, double s)
{
    ListCell_number(out, s * 1e9, Number_ns);
}

// A share that is based on few samples is drawn dim. A share without samples
// becomes a blank cell.
void ListCell_share(struct ListCell *out, const struct Window *window,
                    double share)
{
    char text[NUMBER_MAX];
    enum Basis basis = Window_share(text, window, share);
    ListCell_put(out, basis == BASIS_FINE ? Gauge_heat(share) : STYLE_FAINT,
                 text);
}

void ListCell_place(struct ListCell *cell, enum Style style, const char *text,
                    uint64_t line)
{
    ListCell_put(cell, style, text ? text : "");
    if (line != NULL_U64 && *cell->text)
        snprintf(cell->text + strlen(cell->text), 24, ":%llu",
                 (unsigned long long)line);
}
