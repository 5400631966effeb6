// SPDX-License-Identifier: MIT
#include "tui/views/table_column.h"

#include "tui/model/window.h"
#include "tui/screen/gauge.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/display.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A rate is shown with one digit if its relative standard error is above
// ROUGH_RATE.
#define ROUGH_RATE 0.25
// If a call of a C function takes fewer cycles, hooks cannot measure it,
// because the cost of CPython's own events is known only to some 100 cycles.
#define LEAST_C 300
#define UNKNOWN_RATE 0.5 // A rate with a larger relative error is not shown.
#define GUESSED_RATE 1   // Rates of C functions are shown up to this error.

// Rounds an estimate to one digit if it is based on few samples. `samples` is
// NaN if their number is not known.
static double by_samples(double value, double samples)
{
    return samples < WINDOW_FEW ? Window_one_digit(value) : value;
}

// Draws a cell dim if the function has not run for some time.
static void fade(struct ListCell *out, const struct Row *row)
{
    if (Row_is_old(row))
        out->style = STYLE_FAINT;
}

// --- Cells, from the value that the column sorts by

static void put_share(struct ListCell *out, const struct TableCell *cell)
{
    ListCell_share(out, &cell->row->window, cell->value);
}

// The column RUN% is based on all samples of the run.
static void put_run_share(struct ListCell *out, const struct TableCell *cell)
{
    const struct Function *now = cell->row->now;
    struct Window run = {.per_share =
                             Row_u64(now->run_samples) / now->run_share};
    ListCell_share(out, &run, cell->value);
}

static void put_trend(struct ListCell *out, const struct TableCell *cell)
{
    const float *last = cell->row->trend + TREND_LENGTH - TREND_CELLS;
    double most = 0.01; // Smaller shares are drawn as a flat curve.
    bool known = false, sampled = false;
    for (int i = 0; i < TREND_CELLS; i++) {
        most = fmax(most, 1.15 * last[i]);
        known |= isfinite(last[i]);
        sampled |= Window_basis(&cell->row->window, last[i]) != BASIS_NONE;
    }
    ListCell_put(out, STYLE_FAINT, "");
    if (known && !sampled)
        return;
    Gauge_trend(out->text, sizeof out->text, last, TREND_CELLS, most);
    out->style = (uint8_t)Gauge_heat(last[TREND_CELLS - 1]);
}

// Writes a share that is based on an unknown number of samples.
static void put_plain_share(struct ListCell *out, const struct TableCell *cell)
{
    char text[NUMBER_MAX];
    ListCell_put(out, cell->value >= 0.01 ? STYLE_PLAIN : STYLE_FAINT,
                 Window_plain_share(text, cell->value));
}

// Returns true if the rate is an estimate. An older Ocular does not report
// whether the rate is an estimate, so the function's state decides.
static bool is_rate_estimated(const struct Row *row)
{
    return row->now->rate_estimated == NULL_U64 ? row->now->state != STATE_ARMED
                                                : row->now->rate_estimated != 0;
}

// Returns the relative standard error of an estimated rate.
static double rate_error(const struct Row *row, double rate)
{
    // Without slices, the rate and the number of calls come from the same mean,
    // so they have the same relative error.
    return Row_is_sliced(row) ? row->now->calls_per_s_error / rate
                              : row->now->calls_error;
}

static void put_rate(struct ListCell *out, const struct TableCell *cell)
{
    char number[NUMBER_MAX], text[NUMBER_MAX + 1] = "~";
    const struct Row *row = cell->row;
    double rate = cell->value, samples = Row_rate_samples(row);
    double error = rate_error(row, rate);
    bool rough =
        (!Row_is_sliced(row) && samples < WINDOW_FEW) || error > ROUGH_RATE;
    bool unknown = Row_is_sliced(row)
                       ? Row_is_c(row) && error >= GUESSED_RATE
                       : samples < WINDOW_LEAST || error > UNKNOWN_RATE;
    ListCell_number(out, rate, Number_rate);
    if (rate == 0)
        out->style = STYLE_FAINT;
    if (!isfinite(rate) || !is_rate_estimated(row))
        return;
    strcpy(text + 1,
           Number_rate(number, rough ? Window_one_digit(rate) : rate));
    ListCell_put(out, rough ? STYLE_FAINT : STYLE_PLAIN, unknown ? "" : text);
}

// Returns true if the number of calls is only a lower bound, because the calls
// without hooks are not estimated.
static bool is_floor(const struct Row *row)
{
    return isnan(Row_estimated(row)) ||
           (!Row_is_sliced(row) && Row_u64(row->now->run_samples) == 0 &&
            Row_estimated(row) <= Row_calls(row));
}

static void put_calls(struct ListCell *out, const struct TableCell *cell)
{
    char number[NUMBER_MAX], text[NUMBER_MAX + 2];
    const struct Row *row = cell->row;
    double calls = cell->value, seen = Row_calls(row);
    double samples = Row_u64(row->now->run_samples);
    const char *mark = "~";
    // The number of calls is also rough if more than half of it is estimated
    // from few samples.
    bool rough =
        Row_is_rough(row) ||
        (!Row_is_sliced(row) && samples < WINDOW_FEW && calls > 2 * seen);
    if (Row_calls_exact(row))
        mark = "";
    else if (is_floor(row) || !Row_is_sure(row))
        mark = ">=";
    else if (rough)
        calls = Window_one_digit(calls);
    snprintf(text, sizeof text, "%s%s", mark, Number_count(number, calls));
    // The cell stays blank instead of a lower bound of 0, which would say
    // nothing.
    ListCell_put(out, rough && *mark == '~' ? STYLE_FAINT : STYLE_PLAIN,
                 calls > 0 || (calls == 0 && *mark != '>') ? text : "");
}

// Writes the self time of a function. If the self time is an estimate, its
// relative error is that of the number of calls.
static void put_spent(struct ListCell *out, const struct TableCell *cell)
{
    char number[NUMBER_MAX], text[NUMBER_MAX + 2];
    const struct Row *row = cell->row;
    double cycles = cell->value;
    bool exact = Row_calls_exact(row);
    bool estimated = Row_spent_estimated(row) && (exact || !is_floor(row));
    bool rough = estimated && Row_u64(row->now->run_samples) < WINDOW_FEW &&
                 !(cycles <= 2 * Row_self(row));
    const char *mark = estimated ? "~" : exact ? "" : ">=";

    if (rough)
        cycles = Window_one_digit(cycles);
    snprintf(text, sizeof text, "%s%s", mark,
             Display_cycles(number, cycles, cell->display));
    ListCell_put(out, rough ? STYLE_FAINT : STYLE_PLAIN,
                 cycles > 0 || (exact && cycles == 0) ? text : "");
}

// Writes "<300" if the calls of a C function are too short to be measured.
// Returns false if the calls are long enough.
static bool put_short_c(struct ListCell *out, const struct TableCell *cell)
{
    const struct Display *display = cell->display;
    char number[NUMBER_MAX], text[NUMBER_MAX + 1] = "<";

    if (!Row_is_c(cell->row) || !(cell->value < LEAST_C))
        return false;
    strcpy(text + 1, Display_cycles(number, LEAST_C, display));
    ListCell_put(out, STYLE_PLAIN, text);
    fade(out, cell->row);
    return true;
}

static void put_avg(struct ListCell *out, const struct TableCell *cell)
{
    char mean[NUMBER_MAX], text[NUMBER_MAX + 1];
    const struct Row *row = cell->row;
    double cycles = cell->value;
    bool estimated = row->now->avg_estimated == 1;
    double samples = Row_u64(row->now->run_samples);

    ListCell_put(out, STYLE_PLAIN, "");
    if (!isfinite(cycles) || (estimated && samples == 0) ||
        (!estimated && put_short_c(out, cell)))
        return;
    if (estimated)
        cycles = by_samples(cycles, samples);
    snprintf(text, sizeof text, "%s%s", estimated ? "~" : "",
             Display_mean(mean, cycles, cell->display));
    ListCell_put(out,
                 estimated && samples < WINDOW_FEW ? STYLE_FAINT : STYLE_PLAIN,
                 text);
    fade(out, row);
}

static void put_cost(struct ListCell *out, const struct TableCell *cell)
{
    char text[NUMBER_MAX];
    if (put_short_c(out, cell))
        return;
    ListCell_put(out, STYLE_PLAIN,
                 isfinite(cell->value)
                     ? Display_cost(text, cell->value, cell->display)
                     : "");
    fade(out, cell->row);
}

// Writes the cycles of all timed calls. The number of cycles is a lower bound
// if some calls were not timed.
static void put_cycles(struct ListCell *out, const struct TableCell *cell)
{
    char number[NUMBER_MAX], text[NUMBER_MAX + 2];
    bool exact = Row_calls_exact(cell->row);

    snprintf(text, sizeof text, "%s%s", exact ? "" : ">=",
             Display_cycles(number, cell->value, cell->display));
    // The cell stays blank instead of a lower bound of 0, which would say
    // nothing.
    ListCell_put(out, STYLE_PLAIN,
                 cell->value > 0 || (exact && cell->value == 0) ? text : "");
}

static void put_state(struct ListCell *out, const struct TableCell *cell)
{
    char age[NUMBER_MAX];
    const struct Row *row = cell->row;
    uint64_t state = row->now->state;
    bool stale = Row_is_stale(row);
    if (state > STATE_DARK) {
        ListCell_put(out, STYLE_FAINT, "");
        return;
    }
    if (isfinite(row->now->age_s))
        Number_age(age, row->now->age_s);
    else
        age[0] = 0;
    snprintf(out->text, sizeof out->text, "%s %s%s", STATE_MARKS[state].mark,
             age, stale ? "!" : "");
    out->style = (uint8_t)(stale ? STYLE_ALERT : STATE_MARKS[state].style);
}

static void put_sites(struct ListCell *out, const struct TableCell *cell)
{
    double sites = Row_u64(cell->row->now->sites), armed = cell->value;
    char first[NUMBER_MAX], second[NUMBER_MAX], text[2 * NUMBER_MAX];
    snprintf(text, sizeof text, "%s/%s", Number_count(first, armed),
             Number_count(second, sites));
    ListCell_put(out, armed > 0 ? STYLE_PLAIN : STYLE_FAINT,
                 isfinite(armed) ? text : "");
}

static void put_spec(struct ListCell *out, const struct TableCell *cell)
{
    bool deopt = cell->row->deopt;
    out->text[0] = 0;
    if (isfinite(cell->value))
        snprintf(out->text, sizeof out->text, "%.0f%%%s", cell->value * 100,
                 deopt ? "!" : " ");
    out->style = (uint8_t)(deopt ? STYLE_ALERT : STYLE_PLAIN);
}

static void put_raised(struct ListCell *out, const struct TableCell *cell)
{
    ListCell_marked(out, cell->row->now->raised_estimated == 1 ? "~" : "",
                    cell->value, Number_count);
}

static void put_in_flight(struct ListCell *out, const struct TableCell *cell)
{
    ListCell_marked(out, cell->row->now->in_flight_is_least == 1 ? ">=" : "",
                    cell->value, Number_count);
}

static void put_oldest(struct ListCell *out, const struct TableCell *cell)
{
    bool hangs = Row_hangs(cell->row);
    bool least = cell->row->now->in_flight_is_least == 1;
    char age[NUMBER_MAX];
    *out->text = '\0';
    if (isfinite(cell->value))
        snprintf(out->text, sizeof out->text, "%s%s%s", least ? ">" : "",
                 Number_ns(age, 1e9 * cell->value), hangs ? "!" : " ");
    out->style = (uint8_t)(hangs ? STYLE_ALERT : STYLE_PLAIN);
}

static void put_seconds(struct ListCell *out, const struct TableCell *cell)
{
    ListCell_seconds(out, cell->value);
}

// Writes the CPU time of a call, which is always an estimate.
static void put_cpu(struct ListCell *out, const struct TableCell *cell)
{
    char number[NUMBER_MAX], text[NUMBER_MAX + 1];
    double samples = cell->row->cpu_samples;
    double cpu = by_samples(cell->value, samples);

    snprintf(text, sizeof text, "~%s", Number_ns(number, cpu * 1e9));
    ListCell_put(out, samples < WINDOW_FEW ? STYLE_FAINT : STYLE_PLAIN,
                 cpu > 0 ? text : "");
}

static void put_standout(struct ListCell *out, const struct Standout *standout)
{
    char text[NUMBER_MAX] = "";
    if (standout->pid)
        snprintf(text, sizeof text, "%d%s", (int)standout->pid,
                 standout->out ? "!" : " ");
    ListCell_put(out, standout->out ? STYLE_ALERT : STYLE_FAINT, text);
}

static void put_worker(struct ListCell *out, const struct TableCell *cell)
{
    put_standout(out, &cell->row->workers.busy);
}

static void put_slow_worker(struct ListCell *out, const struct TableCell *cell)
{
    put_standout(out, &cell->row->workers.slow);
}

static void put_function(struct ListCell *out, const struct TableCell *cell)
{
    ListCell_put(out, Row_is_idle(cell->row) ? STYLE_FAINT : STYLE_PLAIN,
                 Column_text_key(COLUMN_FUNCTION, cell->row));
}

static void put_file(struct ListCell *out, const struct TableCell *cell)
{
    ListCell_place(out, STYLE_FAINT, cell->row->now->file,
                   cell->row->now->line);
}

// --- The columns

#define TABLE_COLUMN(title_, width_, importance_, room_, format_, about_, ...) \
    {                                                                          \
        .title = title_, .about = about_, .width = width_,                     \
        .importance = importance_, .room = room_, .format = format_,           \
        __VA_ARGS__                                                            \
    }

const struct TableColumn TABLE[COLUMN_COUNT] = {
    [COLUMN_SHARE] =
        TABLE_COLUMN("SHARE", 6, 1, 16, put_share,
                     "share of one core spent running in it, over the window"),
    [COLUMN_TREND] = TABLE_COLUMN(
        "TREND", TREND_CELLS, 5, 24, put_trend,
        "its share over the last snapshots; sorts by the rise", .left = true),
    [COLUMN_RUN_SHARE] =
        TABLE_COLUMN("RUN%", 6, 19, 48, put_run_share,
                     "its share since tracing began, however it runs now"),
    [COLUMN_TOTAL_SHARE] =
        TABLE_COLUMN("TOTAL%", 6, 7, 20, put_share,
                     "share with the functions it called", .near = true),
    [COLUMN_C_SHARE] = TABLE_COLUMN("IN C", 6, 15, 48, put_share,
                                    "share spent in C code it called"),
    [COLUMN_WAIT_SHARE] =
        TABLE_COLUMN("WAIT", 6, 6, 20, put_plain_share,
                     "share of time in it but off the CPU", .near = true),
    [COLUMN_GIL] =
        TABLE_COLUMN("GIL", 6, 20, 48, put_plain_share,
                     "share of time others waited for the GIL while it had it"),
    [COLUMN_RATE] = TABLE_COLUMN("CALLS/s", 7, 3, 18, put_rate,
                                 "calls a second (~ estimated: dark recently)",
                                 .near = true),
    [COLUMN_CALLS] = TABLE_COLUMN(
        "CALLS", 7, 10, 26, put_calls,
        "calls (~ estimated, >= at least: it was dark for a time)"),
    [COLUMN_AVG] =
        TABLE_COLUMN("AVG cyc", 7, 4, 20, put_avg, "mean self time of a call",
                     .time_title = "AVG", .near = true),
    [COLUMN_MIN] =
        TABLE_COLUMN("MIN", 6, 18, 48, put_cost, "least self time of a call"),
    [COLUMN_P50] = TABLE_COLUMN("P50", 6, 12, 28, put_cost,
                                "half of the calls took less self time"),
    [COLUMN_P99] = TABLE_COLUMN("P99", 6, 11, 26, put_cost,
                                "99 of 100 calls took less self time"),
    [COLUMN_SELF] = TABLE_COLUMN("SELF cyc", 8, 8, 24, put_spent,
                                 "time in it, without the functions it called",
                                 .time_title = "SELF"),
    [COLUMN_TOTAL] = TABLE_COLUMN("TOTAL", 7, 14, 46, put_cycles,
                                  "time in it, with the functions it called"),
    [COLUMN_WAITED] = TABLE_COLUMN("WAITED", 7, 17, 48, put_cycles,
                                   "time in it while another thread ran"),
    [COLUMN_STATE] = TABLE_COLUMN(
        "STATE", 7, 2, 18, put_state,
        "armed, partial or dark, and the age of its data", .left = true),
    [COLUMN_SITES] = TABLE_COLUMN("SITES", 9, 16, 48, put_sites,
                                  "armed sites of all its sites"),
    [COLUMN_SPEC] =
        TABLE_COLUMN("SPEC ", 5, 13, 20, put_spec,
                     "instructions CPython has specialised (! loses them now)"),
    [COLUMN_RAISED] = TABLE_COLUMN("RAISED", 7, 21, 48, put_raised,
                                   "exceptions that began in it; x shows them"),
    [COLUMN_WORKER] =
        TABLE_COLUMN("WORKER ", 8, 0, 0, put_worker,
                     "the worker that runs most in it (! stands out)"),
    [COLUMN_IN_FLIGHT] =
        TABLE_COLUMN("IN FLIGHT", 9, 2, 18, put_in_flight,
                     "calls that have begun and have not ended"),
    [COLUMN_OLDEST] =
        TABLE_COLUMN("OLDEST ", 7, 4, 18, put_oldest,
                     "age of the oldest call in flight (! it hangs)"),
    [COLUMN_WALL_P50] = TABLE_COLUMN("P50", 6, 5, 20, put_seconds,
                                     "half of the newest calls took less"),
    [COLUMN_WALL_P99] = TABLE_COLUMN("P99", 6, 1, 18, put_seconds,
                                     "99 of 100 of the newest calls took less"),
    [COLUMN_WALL_MAX] =
        TABLE_COLUMN("MAX", 6, 6, 20, put_seconds,
                     "the longest call that has ended since tracing began"),
    [COLUMN_CPU] =
        TABLE_COLUMN("CPU", 6, 8, 24, put_cpu,
                     "mean CPU time of a call, with the functions it called"),
    [COLUMN_AWAIT] = TABLE_COLUMN("AWAIT", 6, 7, 24, put_seconds,
                                  "mean time of a call that it was suspended"),
    [COLUMN_SLOW_WORKER] =
        TABLE_COLUMN("WORKER ", 8, 0, 0, put_slow_worker,
                     "the slowest worker, by P99 or a call that hangs"),
    [COLUMN_FUNCTION] =
        TABLE_COLUMN("FUNCTION", 20, 0, 0, put_function, "qualified name",
                     .left = true, .cut = CUT_START),
    [COLUMN_FILE] =
        TABLE_COLUMN("FILE:LINE", 20, 9, 22, put_file, "where it is defined",
                     .left = true, .cut = CUT_START),
};
