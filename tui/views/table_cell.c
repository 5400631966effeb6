// SPDX-License-Identifier: MIT
// See table_cell.h.
#include "tui/views/table_cell.h"

#include "tui/model/column.h"
#include "tui/model/window.h"
#include "tui/screen/gauge.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/display.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Rounds an estimate that rests on few samples; NaN: their number is not known.
static double by_samples(double value, double samples)
{
    return samples < WINDOW_FEW ? Window_one_digit(value) : value;
}

// Dims what was measured long ago.
static void fade(struct TableText *out, const struct Row *row)
{
    if (Row_is_old(row))
        out->style = STYLE_FAINT;
}

void TableCell_share(struct TableText *out, const struct Row *row,
                     const struct Display *display)
{
    (void)display;
    TableText_share(out, &row->window, Row_share(row));
}

void TableCell_trend(struct TableText *out, const struct Row *row,
                     const struct Display *display)
{
    const float *last = row->trend + TREND_LENGTH - TREND_CELLS;
    double most = 0.01; // a curve of next to nothing stays flat
    bool known = false, sampled = false;
    (void)display;
    for (int i = 0; i < TREND_CELLS; i++) {
        most = fmax(most, 1.15 * last[i]);
        known |= isfinite(last[i]);
        sampled |= Window_basis(&row->window, last[i]) != BASIS_NONE;
    }
    TableText_put(out, STYLE_FAINT, "");
    if (known && !sampled)
        return;
    Gauge_trend(out->text, sizeof out->text, last, TREND_CELLS, most);
    out->style = (uint8_t)Gauge_heat(last[TREND_CELLS - 1]);
}

void TableCell_total_share(struct TableText *out, const struct Row *row,
                           const struct Display *display)
{
    (void)display;
    TableText_share(out, &row->window, COLUMNS[COLUMN_TOTAL_SHARE].key(row));
}

void TableCell_c_share(struct TableText *out, const struct Row *row,
                       const struct Display *display)
{
    (void)display;
    TableText_share(out, &row->window, COLUMNS[COLUMN_C_SHARE].key(row));
}

void TableCell_wait_share(struct TableText *out, const struct Row *row,
                          const struct Display *display)
{
    char text[NUMBER_MAX];
    double share = COLUMNS[COLUMN_WAIT_SHARE].key(row);
    (void)display;
    TableText_put(out, share >= 0.01 ? STYLE_PLAIN : STYLE_FAINT,
                  Window_plain_share(text, share));
}

// An older version does not report this; then the state tells.
static bool is_rate_estimated(const struct Row *row)
{
    return row->now->rate_estimated == NULL_U64 ? row->now->state != STATE_ARMED
                                                : row->now->rate_estimated != 0;
}

void TableCell_rate(struct TableText *out, const struct Row *row,
                    const struct Display *display)
{
    char number[NUMBER_MAX], text[NUMBER_MAX + 1] = "~";
    double rate = row->now->calls_per_s, samples = Row_rate_samples(row);
    (void)display;
    TableText_number(out, rate, Number_rate);
    if (rate == 0)
        out->style = STYLE_FAINT;
    if (!isfinite(rate) || !is_rate_estimated(row))
        return;
    strcpy(text + 1, Number_rate(number, by_samples(rate, samples)));
    TableText_put(out, samples < WINDOW_FEW ? STYLE_FAINT : STYLE_PLAIN,
                  samples < WINDOW_LEAST ? "" : text);
}

void TableCell_calls(struct TableText *out, const struct Row *row,
                     const struct Display *display)
{
    char number[NUMBER_MAX], text[NUMBER_MAX + 2];
    double calls = Row_best_calls(row), seen = Row_calls(row);
    double samples = Row_u64(row->now->run_samples);
    const char *mark = "~";
    // Most of the number is an estimate.
    bool rough = samples < WINDOW_FEW && calls > 2 * seen;
    (void)display;
    if (Row_calls_exact(row))
        mark = "";
    else if (isnan(Row_estimated(row)) || (samples == 0 && calls <= seen))
        mark = ">=";
    else if (rough)
        calls = Window_one_digit(calls);
    snprintf(text, sizeof text, "%s%s", mark, Number_count(number, calls));
    TableText_put(out, rough && *mark == '~' ? STYLE_FAINT : STYLE_PLAIN,
                  isfinite(calls) ? text : "");
}

void TableCell_avg(struct TableText *out, const struct Row *row,
                   const struct Display *display)
{
    char mean[NUMBER_MAX], text[NUMBER_MAX + 1];
    double cycles = row->now->avg_cycles;
    bool estimated = row->now->avg_estimated == 1;
    double samples = Row_u64(row->now->run_samples);

    TableText_put(out, STYLE_PLAIN, "");
    if (!isfinite(cycles) || (estimated && samples == 0))
        return;
    if (estimated)
        cycles = by_samples(cycles, samples);
    snprintf(text, sizeof text, "%s%s", estimated ? "~" : "",
             Display_mean(mean, cycles, display));
    TableText_put(out,
                  estimated && samples < WINDOW_FEW ? STYLE_FAINT : STYLE_PLAIN,
                  text);
    fade(out, row);
}

void TableCell_min(struct TableText *out, const struct Row *row,
                   const struct Display *display)
{
    TableText_cost(out, row->now->min_cycles, display);
    fade(out, row);
}

void TableCell_p50(struct TableText *out, const struct Row *row,
                   const struct Display *display)
{
    TableText_cost(out, row->now->p50_cycles, display);
    fade(out, row);
}

void TableCell_p99(struct TableText *out, const struct Row *row,
                   const struct Display *display)
{
    TableText_cost(out, row->now->p99_cycles, display);
    fade(out, row);
}

void TableCell_self(struct TableText *out, const struct Row *row,
                    const struct Display *display)
{
    TableText_cycles(out, Row_self(row), display);
}

void TableCell_total(struct TableText *out, const struct Row *row,
                     const struct Display *display)
{
    TableText_cycles(out, Row_total(row), display);
}

void TableCell_waited(struct TableText *out, const struct Row *row,
                      const struct Display *display)
{
    TableText_cycles(out, Row_waited(row), display);
}

void TableCell_state(struct TableText *out, const struct Row *row,
                     const struct Display *display)
{
    static const char *const marks[] = {"●", "◐", "○"};
    static const enum Style styles[] = {STYLE_ARMED, STYLE_PARTIAL, STYLE_DARK};
    char age[NUMBER_MAX];
    uint64_t state = row->now->state;
    bool stale = Row_is_stale(row);
    (void)display;
    if (state > STATE_DARK) {
        TableText_put(out, STYLE_FAINT, "");
        return;
    }
    if (isfinite(row->now->age_s))
        Number_age(age, row->now->age_s);
    else
        age[0] = 0;
    snprintf(out->text, sizeof out->text, "%s %s%s", marks[state], age,
             stale ? "!" : "");
    out->style = (uint8_t)(stale ? STYLE_ALERT : styles[state]);
}

void TableCell_sites(struct TableText *out, const struct Row *row,
                     const struct Display *display)
{
    double sites = Row_u64(row->now->sites);
    double armed = sites - Row_u64(row->now->dark_sites);
    char first[NUMBER_MAX], second[NUMBER_MAX], text[2 * NUMBER_MAX];
    (void)display;
    snprintf(text, sizeof text, "%s/%s", Number_count(first, armed),
             Number_count(second, sites));
    TableText_put(out, armed > 0 ? STYLE_PLAIN : STYLE_FAINT,
                  isfinite(armed) ? text : "");
}

void TableCell_spec(struct TableText *out, const struct Row *row,
                    const struct Display *display)
{
    double spec = COLUMNS[COLUMN_SPEC].key(row);
    (void)display;
    out->text[0] = 0;
    if (isfinite(spec))
        snprintf(out->text, sizeof out->text, "%.0f%%%s", spec * 100,
                 row->deopt ? "!" : " ");
    out->style = (uint8_t)(row->deopt ? STYLE_ALERT : STYLE_PLAIN);
}

void TableCell_function(struct TableText *out, const struct Row *row,
                        const struct Display *display)
{
    (void)display;
    TableText_put(out, Row_is_idle(row) ? STYLE_FAINT : STYLE_PLAIN,
                  Text_tail(Column_text_key(COLUMN_FUNCTION, row), 960));
}

void TableCell_file(struct TableText *out, const struct Row *row,
                    const struct Display *display)
{
    const char *file = Column_text_key(COLUMN_FILE, row);
    (void)display;
    TableText_put(out, STYLE_FAINT, Text_tail(file, 960));
    if (row->now->line != NULL_U64 && *file)
        snprintf(out->text + strlen(out->text), 24, ":%llu",
                 (unsigned long long)row->now->line);
}
