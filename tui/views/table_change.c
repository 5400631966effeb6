// SPDX-License-Identifier: MIT
// See table_change.h.
#include "tui/views/table_change.h"

#include "tui/model/window.h"
#include "tui/text/number.h"
#include "tui/views/display.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A change of less than a sample is written as zero. A function that was never
// sampled has a blank cell.
static enum Basis put_share_change(struct TableText *out, enum ColumnId id,
                                   const struct Row *row, double size)
{
    const struct Window *window = &row->window;
    char text[NUMBER_MAX];
    enum Basis basis = Window_share(text, window, size);
    double before = row->mark[id], now = COLUMNS[id].key(row);
    bool sampled = Window_basis(window, before) != BASIS_NONE ||
                   Window_basis(window, now) != BASIS_NONE;
    if (basis <= BASIS_TRACE || *text == '<')
        strcpy(text, sampled ? "0.0%" : "");
    TableText_put(out, STYLE_PLAIN, text);
    return basis;
}

// "+3.2%", "-1.2k"; a zero has no sign.
void TableChange_write(struct TableText *out, enum ColumnId id,
                       const struct Row *row, const struct Display *display)
{
    char text[NUMBER_MAX + 1];
    enum Change kind = COLUMNS[id].change;
    enum Basis basis = BASIS_FINE;
    double change = Column_change(id, row), size = fabs(change);
    if (isnan(change)) {
        TableText_put(out, STYLE_PLAIN, "");
        return;
    }
    if (kind == CHANGE_SHARE)
        basis = put_share_change(out, id, row, size);
    else if (kind == CHANGE_PART)
        TableText_number(out, size, Number_percent);
    else if (kind == CHANGE_RATE)
        TableText_number(out, size, Number_rate);
    else if (kind == CHANGE_COUNT)
        TableText_number(out, size, Number_count);
    else
        TableText_cycles(out, size, display);
    bool none = !strpbrk(out->text, "123456789");
    const char *sign = change > 0 ? "+" : "-";
    snprintf(text, sizeof text, "%s%.*s", none ? "" : sign, NUMBER_MAX - 1,
             out->text);
    // More time is hot, and so are fewer specialised sites. More calls are
    // neither good nor bad, and sums only grow.
    bool neutral =
        kind == CHANGE_RATE || kind == CHANGE_COUNT || kind == CHANGE_SUM;
    bool hot = kind == CHANGE_PART ? change < 0 : change > 0;
    enum Style style = hot ? STYLE_HEAT_4 : STYLE_ARMED;
    if (none || basis == BASIS_FEW)
        style = STYLE_FAINT;
    else if (neutral)
        style = STYLE_PLAIN;
    TableText_put(out, style, text);
}
