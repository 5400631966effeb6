// SPDX-License-Identifier: MIT
#include "tui/views/detail_lines.h"

#include "tui/model/column.h"
#include "tui/model/window.h"
#include "tui/screen/gauge.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/table.h"

#include <stdio.h>

#define PARTS_SHARE 0.001 // The parts of a smaller share are not shown.

static void add_shares(struct Strip *strip, const struct Row *row)
{
    const struct Function *now = row->now;
    char number[NUMBER_MAX];
    double share = Row_share(row);
    enum Basis basis = Window_share(number, &row->window, share);
    if (!isfinite(share))
        return;
    Strip_item(strip, 2);
    if (basis == BASIS_NONE && isfinite(row->window.s))
        Strip_add(strip, STYLE_FAINT, "no sample in %.0f s", row->window.s);
    else if (basis == BASIS_NONE)
        Strip_add(strip, STYLE_FAINT, "no sample");
    else
        Strip_add(strip, basis == BASIS_FINE ? Gauge_heat(share) : STYLE_FAINT,
                  "%s", number);
    if (row->part) {
        Strip_add(strip, STYLE_FAINT, " in this thread");
        return;
    }
    if (isfinite(now->c_share) && basis == BASIS_FINE && share >= PARTS_SHARE) {
        double c = fmin(now->c_share, now->share), py = now->share - c;
        if (c < PARTS_SHARE / 2 || py < PARTS_SHARE / 2) {
            Strip_add(strip, STYLE_FAINT, py < c ? " in C" : " in Python");
        } else {
            Strip_add(strip, STYLE_FAINT, " = ");
            Strip_add(strip, STYLE_PLAIN, "%.1f", py * 100);
            Strip_add(strip, STYLE_FAINT, " py + ");
            Strip_add(strip, STYLE_PLAIN, "%.1f", c * 100);
            Strip_add(strip, STYLE_FAINT, " C");
        }
    }
    if (now->wait_share >= PARTS_SHARE) {
        Strip_add(strip, STYLE_FAINT, ", waits ");
        Strip_add(strip, STYLE_PLAIN, "%s",
                  Number_percent(number, now->wait_share));
    }
}

static void add_samples(struct Strip *strip, const struct Row *row)
{
    double share = Row_share(row);
    double samples = fmax(round(Window_samples(&row->window, share)), 1);
    char number[NUMBER_MAX];
    if (Window_basis(&row->window, share) == BASIS_NONE ||
        !isfinite(row->window.per_share))
        return;
    Strip_put(strip, 6, STYLE_PLAIN, "%s", Number_count(number, samples));
    Strip_add(strip, STYLE_FAINT, " sample%s in %.0f s", samples > 1 ? "s" : "",
              row->window.s);
}

static void add_calls(struct Strip *strip, const struct Row *row)
{
    char number[NUMBER_MAX];
    double estimated = Row_estimated(row), seen = Row_calls(row);
    if (!isfinite(seen))
        return;
    Strip_put(strip, 4, STYLE_FAINT, "calls ");
    if (Row_calls_exact(row)) {
        Strip_add(strip, STYLE_PLAIN, "%s", Number_count(number, seen));
        return;
    }
    if (isfinite(estimated) && Row_is_sure(row)) {
        if (Row_is_rough(row))
            estimated = Window_one_digit(estimated);
        Strip_add(strip, STYLE_PLAIN, "~%s", Number_count(number, estimated));
        Strip_add(strip, STYLE_FAINT, ", seen >=%s",
                  Number_count(number, seen));
    } else {
        Strip_add(strip, STYLE_PLAIN, ">=%s", Number_count(number, seen));
    }
}

static void add_sites(struct Strip *strip, const struct Row *row)
{
    const struct Function *now = row->now;
    char age[NUMBER_MAX];
    if (now->state > STATE_DARK)
        return;
    Strip_put(strip, 3, STATE_MARKS[now->state].style, "%s %s",
              STATE_MARKS[now->state].mark, State_name(now->state));
    if (now->sites != NULL_U64 && now->dark_sites <= now->sites)
        Strip_add(strip, STYLE_FAINT, ", %llu of %llu sites armed",
                  (unsigned long long)(now->sites - now->dark_sites),
                  (unsigned long long)now->sites);
    if (Row_is_old(row))
        Strip_add(strip, Row_is_stale(row) ? STYLE_ALERT : STYLE_FAINT,
                  ", last hit %s ago", Number_age(age, now->age_s));
}

// Adds the same text as in the column AVG, in cycles and in time.
static void add_cost(struct Strip *strip, const struct Row *row,
                     const struct Display *display)
{
    struct Display as_cycles = {.tsc_hz = display->tsc_hz};
    struct Display as_time = {.ns = true, .tsc_hz = display->tsc_hz};
    struct ListCell cell;
    Table_write(&cell, COLUMN_AVG, row, &as_cycles);
    if (!*cell.text)
        return;
    Strip_label(strip, 5, "self", "%s cyc", cell.text);
    Table_write(&cell, COLUMN_AVG, row, &as_time);
    if (display->tsc_hz > 0)
        Strip_add(strip, STYLE_FAINT, " = %s", cell.text);
    Strip_add(strip, STYLE_FAINT, " a call");
}

static void draw_numbers(struct Canvas *canvas, const struct Row *row,
                         const struct Display *display, struct Strip *strip,
                         int y)
{
    add_shares(strip, row);
    add_samples(strip, row);
    add_calls(strip, row);
    add_cost(strip, row, display);
    add_sites(strip, row);
    Strip_draw(strip, canvas, (struct Box){y, 2, canvas->width - 3},
               canvas->width < 110 ? 2 : 3);
}

// Draws a function's full name and path on one line.
static void draw_names(struct Canvas *canvas, const struct Row *row, int y)
{
    const char *name = Column_text_key(COLUMN_FUNCTION, row);
    char file[1024], line[24] = "";
    int end = canvas->width - 1;
    struct Box box = {y, 2, canvas->width * 3 / 5};
    if (row->now->line != NULL_U64 && *Column_text_key(COLUMN_FILE, row))
        snprintf(line, sizeof line, ":%llu",
                 (unsigned long long)row->now->line);
    snprintf(file, sizeof file, "%s%s",
             Text_tail(Column_text_key(COLUMN_FILE, row), 960), line);
    name = Text_tail(name, 960);
    Canvas_fit(canvas, box, STYLE_STRONG, CUT_START, name);
    int width = Canvas_measure(canvas, name);
    box.x += (width < box.width ? width : box.width) + 3;
    box.width = end - box.x;
    Canvas_fit(canvas, box, STYLE_FAINT, CUT_START, file);
}

void DetailLines_draw(struct Canvas *canvas, const struct Row *row,
                      const struct Layout *layout,
                      const struct Display *display)
{
    struct Strip strip;
    Strip_init(&strip);
    if (layout->detail_height > 1) {
        draw_names(canvas, row, layout->detail_y);
    } else {
        Strip_put(&strip, 0, STYLE_STRONG, "%s",
                  Text_tail(Column_text_key(COLUMN_FUNCTION, row), 960));
        Strip_flex(&strip, 20);
    }
    draw_numbers(canvas, row, display, &strip,
                 layout->detail_y + layout->detail_height - 1);
}
