// SPDX-License-Identifier: MIT
// See column.h.
#include "tui/model/column.h"

#include "tui/text/number.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

// --- Styles and small drawings

enum Style Column_heat(double share)
{
    if (!(share >= 0.01))
        return STYLE_HEAT_1;
    if (share < 0.05)
        return STYLE_HEAT_2;
    if (share < 0.10)
        return STYLE_HEAT_3;
    return share < 0.25 ? STYLE_HEAT_4 : STYLE_HEAT_5;
}

void Column_bars(char *out, size_t size, const float *values, int count,
                 double most)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    size_t used = 0;
    for (int i = 0; i < count && used + 4 <= size; i++) {
        double value = values[i];
        const char *bar = "·";
        if (isfinite(value)) {
            double part = most > 0 ? value / most : 0;
            int step = (int)(fmin(fmax(part, 0), 1) * 7 + 0.5);
            bar = bars[step];
        }
        used += (size_t)snprintf(out + used, size - used, "%s", bar);
    }
    out[used] = 0;
}

static void put(struct ColumnText *out, enum Style style, const char *text)
{
    snprintf(out->text, sizeof out->text, "%s", text);
    out->style = (uint8_t)style;
}

// Null is a blank cell: many of them in a row of dashes would be noise.
static void put_number(struct ColumnText *out, double value,
                       const char *(*format)(char *, double))
{
    char text[NUMBER_MAX];
    put(out, STYLE_PLAIN, isfinite(value) ? format(text, value) : "");
}

// What the hooks of a call cost is known to so many ns, and taken off: shorter
// calls look like 0, or like anything below this.
#define LEAST_NS 20.0

static const char *cycles_text(char out[NUMBER_MAX], double cycles,
                               const struct Look *look)
{
    if (look->ns && look->tsc_hz > 0)
        return Number_ns(out, cycles / look->tsc_hz * 1e9);
    return Number_count(out, cycles);
}

const char *Column_cost(char out[NUMBER_MAX], double cycles,
                        const struct Look *look)
{
    double least = ceil(LEAST_NS * look->tsc_hz / 1e9);
    if (!(look->tsc_hz > 0) || !(cycles < least))
        return cycles_text(out, cycles, look);
    snprintf(out, NUMBER_MAX, look->ns ? "<%.0fns" : "<%.0f",
             look->ns ? LEAST_NS : least);
    return out;
}

const char *Column_mean(char out[NUMBER_MAX], double cycles,
                        const struct Look *look)
{
    return cycles < 1 ? Column_cost(out, cycles, look)
                      : cycles_text(out, cycles, look);
}

static void put_cycles(struct ColumnText *out, double cycles,
                       const struct Look *look)
{
    char text[NUMBER_MAX];
    put(out, STYLE_PLAIN,
        isfinite(cycles) ? cycles_text(text, cycles, look) : "");
}

static void put_cost(struct ColumnText *out, double cycles,
                     const struct Look *look)
{
    char text[NUMBER_MAX];
    put(out, STYLE_PLAIN,
        isfinite(cycles) ? Column_cost(text, cycles, look) : "");
}

// What few samples tell is dimmed, and what none tells is blank.
static void put_share(struct ColumnText *out, const struct Window *window,
                      double share)
{
    char text[NUMBER_MAX];
    enum Basis basis = Window_share(text, window, share);
    put(out, basis == BASIS_FINE ? Column_heat(share) : STYLE_FAINT, text);
}

// A number that is an estimate by so many samples (NaN: not known how many).
static double by_samples(double value, double samples)
{
    return samples < WINDOW_FEW ? Window_one_digit(value) : value;
}

// What was measured long ago is shown as such.
static void fade(struct ColumnText *out, const struct Row *row)
{
    if (Row_is_old(row))
        out->style = STYLE_FAINT;
}

// --- One format and one key a column

#define KEY(name, value)                                                       \
    static double name##_key(const struct Row *row)                            \
    {                                                                          \
        return value;                                                          \
    }

#define FORMAT(name)                                                           \
    static void name##_format(struct ColumnText *out, const struct Row *row,   \
                              const struct Look *look)

KEY(share, Row_share(row))
FORMAT(share)
{
    (void)look;
    put_share(out, &row->window, Row_share(row));
}

KEY(trend, row->trend[TREND_LENGTH - 1] - row->trend[TREND_LENGTH - 5])
FORMAT(trend)
{
    const float *last = row->trend + TREND_LENGTH - TREND_CELLS;
    double most = 0.01; // so that a share of nothing does not look like a storm
    bool known = false, met = false;
    (void)look;
    for (int i = 0; i < TREND_CELLS; i++) {
        most = fmax(most, 1.15 * last[i]);
        known |= isfinite(last[i]);
        met |= Window_basis(&row->window, last[i]) != BASIS_NONE;
    }
    put(out, STYLE_FAINT, "");
    if (known && !met)
        return;
    Column_bars(out->text, sizeof out->text, last, TREND_CELLS, most);
    out->style = (uint8_t)Column_heat(last[TREND_CELLS - 1]);
}

KEY(total_share, row->part ? NAN : row->now->total_share)
FORMAT(total_share)
{
    (void)look;
    put_share(out, &row->window, total_share_key(row));
}

KEY(c_share, row->part ? NAN : row->now->c_share)
FORMAT(c_share)
{
    (void)look;
    put_share(out, &row->window, c_share_key(row));
}

KEY(wait_share, row->part ? NAN : row->now->wait_share)
FORMAT(wait_share)
{
    char text[NUMBER_MAX];
    double share = wait_share_key(row);
    (void)look;
    put(out, share >= 0.01 ? STYLE_PLAIN : STYLE_FAINT,
        Window_plain_share(text, share));
}

// A recording of a version that does not say it: by the state.
static bool is_rate_estimated(const struct Row *row)
{
    return row->now->rate_estimated == NULL_U64 ? row->now->state != STATE_ARMED
                                                : row->now->rate_estimated != 0;
}

KEY(rate, row->now->calls_per_s)
FORMAT(rate)
{
    char number[NUMBER_MAX], text[NUMBER_MAX + 1] = "~";
    double rate = row->now->calls_per_s, samples = Row_rate_samples(row);
    (void)look;
    put_number(out, rate, Number_rate);
    if (rate == 0)
        out->style = STYLE_FAINT;
    if (!isfinite(rate) || !is_rate_estimated(row))
        return;
    strcpy(text + 1, Number_rate(number, by_samples(rate, samples)));
    put(out, samples < WINDOW_FEW ? STYLE_FAINT : STYLE_PLAIN,
        samples < WINDOW_LEAST ? "" : text);
}

KEY(calls, Row_best_calls(row))
FORMAT(calls)
{
    char number[NUMBER_MAX], text[NUMBER_MAX + 2];
    double calls = Row_best_calls(row), seen = Row_calls(row);
    double samples = Row_u64(row->now->run_samples);
    const char *mark = "~";
    // Most of it is an estimate.
    bool rough = samples < WINDOW_FEW && calls > 2 * seen;
    (void)look;
    if (Row_calls_exact(row))
        mark = "";
    else if (isnan(Row_estimated(row)) || (samples == 0 && calls <= seen))
        mark = ">=";
    else if (rough)
        calls = Window_one_digit(calls);
    snprintf(text, sizeof text, "%s%s", mark, Number_count(number, calls));
    put(out, rough && *mark == '~' ? STYLE_FAINT : STYLE_PLAIN,
        isfinite(calls) ? text : "");
}

KEY(avg, row->now->avg_cycles)
FORMAT(avg)
{
    char mean[NUMBER_MAX], text[NUMBER_MAX + 1];
    double cycles = row->now->avg_cycles;
    bool estimated = row->now->avg_estimated == 1;
    double samples = Row_u64(row->now->run_samples);

    put(out, STYLE_PLAIN, "");
    if (!isfinite(cycles) || (estimated && samples == 0))
        return;
    if (estimated)
        cycles = by_samples(cycles, samples);
    snprintf(text, sizeof text, "%s%s", estimated ? "~" : "",
             Column_mean(mean, cycles, look));
    put(out, estimated && samples < WINDOW_FEW ? STYLE_FAINT : STYLE_PLAIN,
        text);
    fade(out, row);
}

KEY(min, row->now->min_cycles)
FORMAT(min)
{
    put_cost(out, row->now->min_cycles, look);
    fade(out, row);
}

KEY(p50, row->now->p50_cycles)
FORMAT(p50)
{
    put_cost(out, row->now->p50_cycles, look);
    fade(out, row);
}

KEY(p99, row->now->p99_cycles)
FORMAT(p99)
{
    put_cost(out, row->now->p99_cycles, look);
    fade(out, row);
}

KEY(self, Row_self(row))
FORMAT(self)
{
    put_cycles(out, Row_self(row), look);
}

KEY(total, Row_total(row))
FORMAT(total)
{
    put_cycles(out, Row_total(row), look);
}

KEY(waited, Row_waited(row))
FORMAT(waited)
{
    put_cycles(out, Row_waited(row), look);
}

// Armed before partial before dark, the oldest data first in each.
KEY(state, (double)row->now->state * 1e12 +
               (isfinite(row->now->age_s) ? row->now->age_s : 0))
FORMAT(state)
{
    static const char *const marks[] = {"●", "◐", "○"};
    static const enum Style styles[] = {STYLE_ARMED, STYLE_PARTIAL, STYLE_DARK};
    char age[NUMBER_MAX];
    uint64_t state = row->now->state;
    bool stale = Row_is_stale(row);
    (void)look;
    if (state > STATE_DARK) {
        put(out, STYLE_FAINT, "");
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

KEY(sites, Row_u64(row->now->sites) - Row_u64(row->now->dark_sites))
FORMAT(sites)
{
    double sites = Row_u64(row->now->sites);
    double armed = sites - Row_u64(row->now->dark_sites);
    char first[NUMBER_MAX], second[NUMBER_MAX], text[2 * NUMBER_MAX];
    (void)look;
    snprintf(text, sizeof text, "%s/%s", Number_count(first, armed),
             Number_count(second, sites));
    put(out, armed > 0 ? STYLE_PLAIN : STYLE_FAINT,
        isfinite(armed) ? text : "");
}

KEY(spec, row->now->specializable_sites > 0
              ? Row_u64(row->now->specialized_sites) /
                    Row_u64(row->now->specializable_sites)
              : NAN)
FORMAT(spec)
{
    double spec = spec_key(row);
    (void)look;
    out->text[0] = 0;
    if (isfinite(spec))
        snprintf(out->text, sizeof out->text, "%.0f%%%s", spec * 100,
                 row->deopt ? "!" : " ");
    out->style = (uint8_t)(row->deopt ? STYLE_ALERT : STYLE_PLAIN);
}

FORMAT(function)
{
    (void)look;
    put(out, Row_is_idle(row) ? STYLE_FAINT : STYLE_PLAIN,
        Text_tail(Column_text_key(COLUMN_FUNCTION, row), 960));
}

FORMAT(file)
{
    const char *file = Column_text_key(COLUMN_FILE, row);
    (void)look;
    put(out, STYLE_FAINT, Text_tail(file, 960));
    if (row->now->line != NULL_U64 && *file)
        snprintf(out->text + strlen(out->text), 24, ":%llu",
                 (unsigned long long)row->now->line);
}

#define BY(name) .key = name##_key, .format = name##_format

const struct Column COLUMNS[COLUMN_COUNT] = {
    [COLUMN_SHARE] =
        {.name = "share",
         .title = "SHARE",
         .about = "share of one core spent running in it, over the window",
         .width = 6,
         .importance = 1,
         .room = 16,
         .sampled = true,
         .change = CHANGE_SHARE,
         BY(share)},
    [COLUMN_TREND] =
        {.name = "trend",
         .title = "TREND",
         .about = "its share over the last snapshots; sorts by the rise",
         .width = TREND_CELLS,
         .importance = 5,
         .room = 24,
         .sampled = true,
         .left = true,
         BY(trend)},
    [COLUMN_TOTAL_SHARE] = {.name = "total%",
                            .title = "TOTAL%",
                            .about = "share with the functions it called",
                            .width = 6,
                            .importance = 15,
                            .room = 48,
                            .sampled = true,
                            .change = CHANGE_SHARE,
                            BY(total_share)},
    [COLUMN_C_SHARE] = {.name = "c%",
                        .title = "IN C",
                        .about = "share spent in C code it called",
                        .width = 6,
                        .importance = 14,
                        .room = 48,
                        .sampled = true,
                        .change = CHANGE_SHARE,
                        BY(c_share)},
    [COLUMN_WAIT_SHARE] = {.name = "wait%",
                           .title = "WAIT",
                           .about = "share of time in it but off the CPU",
                           .width = 6,
                           .importance = 13,
                           .room = 48,
                           .sampled = true,
                           .change = CHANGE_SHARE,
                           BY(wait_share)},
    [COLUMN_RATE] = {.name = "calls/s",
                     .title = "CALLS/s",
                     .about = "calls a second (~ estimated: dark lately)",
                     .width = 7,
                     .importance = 3,
                     .room = 18,
                     .change = CHANGE_RATE,
                     BY(rate)},
    [COLUMN_CALLS] =
        {.name = "calls",
         .title = "CALLS",
         .about = "calls (~ estimated, >= at least: it was dark for a time)",
         .width = 7,
         .importance = 8,
         .room = 26,
         .change = CHANGE_COUNT,
         BY(calls)},
    [COLUMN_AVG] = {.name = "avg",
                    .title = "AVG cyc",
                    .time_title = "AVG",
                    .about = "mean self time of a call",
                    .width = 7,
                    .importance = 4,
                    .room = 20,
                    .change = CHANGE_CYCLES,
                    BY(avg)},
    [COLUMN_MIN] = {.name = "min",
                    .title = "MIN",
                    .about = "least self time of a call",
                    .width = 6,
                    .importance = 18,
                    .room = 48,
                    .change = CHANGE_CYCLES,
                    BY(min)},
    [COLUMN_P50] = {.name = "p50",
                    .title = "P50",
                    .about = "half of the calls took less self time",
                    .width = 6,
                    .importance = 10,
                    .room = 28,
                    .change = CHANGE_CYCLES,
                    BY(p50)},
    [COLUMN_P99] = {.name = "p99",
                    .title = "P99",
                    .about = "99 of 100 calls took less self time",
                    .width = 6,
                    .importance = 9,
                    .room = 26,
                    .change = CHANGE_CYCLES,
                    BY(p99)},
    [COLUMN_SELF] = {.name = "self",
                     .title = "SELF cyc",
                     .time_title = "SELF",
                     .about = "time in it, without the functions it called",
                     .width = 8,
                     .importance = 6,
                     .room = 26,
                     .change = CHANGE_SUM,
                     BY(self)},
    [COLUMN_TOTAL] = {.name = "total",
                      .title = "TOTAL",
                      .about = "time in it, with the functions it called",
                      .width = 7,
                      .importance = 12,
                      .room = 46,
                      .change = CHANGE_SUM,
                      BY(total)},
    [COLUMN_WAITED] = {.name = "waited",
                       .title = "WAITED",
                       .about = "time in it while another thread ran",
                       .width = 7,
                       .importance = 17,
                       .room = 48,
                       .change = CHANGE_SUM,
                       BY(waited)},
    [COLUMN_STATE] = {.name = "state",
                      .title = "STATE",
                      .about =
                          "armed, partial or dark, and the age of its data",
                      .width = 7,
                      .importance = 2,
                      .room = 18,
                      .left = true,
                      BY(state)},
    [COLUMN_SITES] = {.name = "sites",
                      .title = "SITES",
                      .about = "armed sites of all its sites",
                      .width = 9,
                      .importance = 16,
                      .room = 48,
                      BY(sites)},
    [COLUMN_SPEC] =
        {.name = "spec",
         .title = "SPEC ",
         .about = "instructions CPython has specialised (! loses them now)",
         .width = 5,
         .importance = 11,
         .room = 28,
         .change = CHANGE_PART,
         BY(spec)},
    [COLUMN_FUNCTION] = {.name = "function",
                         .title = "FUNCTION",
                         .about = "qualified name",
                         .width = 20,
                         .importance = 0,
                         .room = 0,
                         .left = true,
                         .by_text = true,
                         .cut = CUT_START,
                         .format = function_format},
    [COLUMN_FILE] = {.name = "file",
                     .title = "FILE:LINE",
                     .about = "where it is defined",
                     .width = 20,
                     .importance = 7,
                     .room = 22,
                     .left = true,
                     .by_text = true,
                     .cut = CUT_START,
                     .format = file_format},
};

// --- As the screen shows them

// Null, and what no baseline can tell of, is NaN.
static double change_of(enum ColumnId id, const struct Row *row)
{
    double before = row->mark[id], now = COLUMNS[id].key(row);
    if (isnan(before) && COLUMNS[id].change != CHANGE_CYCLES)
        before = 0;
    return now - before;
}

double Column_key(enum ColumnId id, const struct Row *row, bool baseline)
{
    return baseline && COLUMNS[id].change ? change_of(id, row)
                                          : COLUMNS[id].key(row);
}

// A change of less than a sample is none, and of what was in no sample there
// is nothing to say.
static enum Basis put_share_change(struct ColumnText *out, enum ColumnId id,
                                   const struct Row *row, double size)
{
    const struct Window *window = &row->window;
    char text[NUMBER_MAX];
    enum Basis basis = Window_share(text, window, size);
    double before = row->mark[id], now = COLUMNS[id].key(row);
    bool met = Window_basis(window, before) != BASIS_NONE ||
               Window_basis(window, now) != BASIS_NONE;
    if (basis <= BASIS_TRACE || *text == '<')
        strcpy(text, met ? "0.0%" : "");
    put(out, STYLE_PLAIN, text);
    return basis;
}

// "+3.2%", "-1.2k"; what is written as zero has no sign.
static void put_change(struct ColumnText *out, enum ColumnId id,
                       const struct Row *row, const struct Look *look)
{
    char text[NUMBER_MAX + 1];
    enum Change kind = COLUMNS[id].change;
    enum Basis basis = BASIS_FINE;
    double change = change_of(id, row), size = fabs(change);
    if (isnan(change)) {
        put(out, STYLE_PLAIN, "");
        return;
    }
    if (kind == CHANGE_SHARE)
        basis = put_share_change(out, id, row, size);
    else if (kind == CHANGE_PART)
        put_number(out, size, Number_percent);
    else if (kind == CHANGE_RATE)
        put_number(out, size, Number_rate);
    else if (kind == CHANGE_COUNT)
        put_number(out, size, Number_count);
    else
        put_cycles(out, size, look);
    bool none = !strpbrk(out->text, "123456789");
    const char *sign = change > 0 ? "+" : "-";
    snprintf(text, sizeof text, "%s%.*s", none ? "" : sign, NUMBER_MAX - 1,
             out->text);
    // More time is hot, fewer specialised sites are, too; more calls are
    // neither good nor bad, and sums only grow.
    bool neutral =
        kind == CHANGE_RATE || kind == CHANGE_COUNT || kind == CHANGE_SUM;
    bool hot = kind == CHANGE_PART ? change < 0 : change > 0;
    enum Style style = hot ? STYLE_HEAT_4 : STYLE_ARMED;
    if (none || basis == BASIS_FEW)
        style = STYLE_FAINT;
    else if (neutral)
        style = STYLE_PLAIN;
    put(out, style, text);
}

void Column_write(struct ColumnText *out, enum ColumnId id,
                  const struct Row *row, const struct Look *look)
{
    const struct Column *column = &COLUMNS[id];
    if (look->baseline && column->change)
        put_change(out, id, row, look);
    else
        column->format(out, row, look);
}

enum ColumnId Column_find(const char *name)
{
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (strcasecmp(COLUMNS[i].name, name) == 0)
            return (enum ColumnId)i;
    return COLUMN_COUNT;
}

const char *Column_text_key(enum ColumnId id, const struct Row *row)
{
    const char *text = id == COLUMN_FILE ? row->now->file : row->now->name;
    return text ? text : "";
}
