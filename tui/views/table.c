// SPDX-License-Identifier: MIT
#include "tui/views/table.h"

#include "tui/model/window.h"
#include "tui/text/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A name gets at most NAME_MOST cells, so that the column of files stays near
// the names.
#define NAME_MOST 64

// --- The change since the baseline

// Writes the change of a share. A change of less than one sample is written as
// 0.0%. If the function has no samples, the cell is blank. Returns the enum
// Basis of the change.
static enum Basis put_share_change(struct ListCell *out, enum ColumnId id,
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
    ListCell_put(out, STYLE_PLAIN, text);
    return basis;
}

// Writes a change with its sign, such as "+3.2%" or "-1.2k". A change of zero
// has no sign. An increase of time has a hot colour, and so has a decrease of
// specialised instructions. Counts and sums have no colour, because more calls
// are neither good nor bad, and sums can only grow.
static void write_change(struct ListCell *out, enum ColumnId id,
                         const struct Row *row, const struct Display *display)
{
    char text[NUMBER_MAX + 1];
    enum Change kind = COLUMNS[id].change;
    enum Basis basis = BASIS_FINE;
    double change = Column_change(id, row), size = fabs(change);
    if (isnan(change)) {
        ListCell_put(out, STYLE_PLAIN, "");
        return;
    }
    if (kind == CHANGE_SHARE)
        basis = put_share_change(out, id, row, size);
    else if (kind == CHANGE_PART)
        ListCell_number(out, size, Number_percent);
    else if (kind == CHANGE_RATE)
        ListCell_number(out, size, Number_rate);
    else if (kind == CHANGE_COUNT)
        ListCell_number(out, size, Number_count);
    else if (kind == CHANGE_TIME)
        ListCell_seconds(out, size);
    else
        ListCell_cycles(out, size, display);
    bool none = !strpbrk(out->text, "123456789");
    const char *sign = change > 0 ? "+" : "-";
    snprintf(text, sizeof text, "%s%.*s", none ? "" : sign, NUMBER_MAX - 1,
             out->text);
    bool neutral =
        kind == CHANGE_RATE || kind == CHANGE_COUNT || kind == CHANGE_SUM;
    bool hot = kind == CHANGE_PART ? change < 0 : change > 0;
    enum Style style = hot ? STYLE_HEAT_4 : STYLE_ARMED;
    if (none || basis == BASIS_FEW)
        style = STYLE_FAINT;
    else if (neutral)
        style = STYLE_PLAIN;
    ListCell_put(out, style, text);
}

// --- As a source of rows

void Table_write(struct ListCell *out, enum ColumnId id, const struct Row *row,
                 const struct Display *display)
{
    if (display->baseline && COLUMNS[id].change)
        write_change(out, id, row, display);
    else
        TABLE[id].format(
            out, &(struct TableCell){row, COLUMNS[id].key(row), display});
}

static void write(struct ListCell *cell, const struct ListRows *rows, long row,
                  int column)
{
    const struct Table *table = rows->source;
    Table_write(cell, (enum ColumnId)column,
                Model_row(table->model, (size_t)row), table->display);
}

static uint64_t key(const struct ListRows *rows, long row)
{
    const struct Table *table = rows->source;
    return Model_row(table->model, (size_t)row)->id;
}

static bool has(const struct ListRows *rows, long row, const char *text)
{
    const struct Table *table = rows->source;
    return RowOrder_matches(Model_row(table->model, (size_t)row), text);
}

// Returns true if no shown row has a value in the column.
static bool is_blank(const struct Model *model, int column)
{
    if (COLUMNS[column].by_text)
        return false;
    for (size_t i = 0; i < model->shown; i++)
        if (isfinite(COLUMNS[column].key(Model_row(model, i))))
            return false;
    return model->shown > 0;
}

void Table_fill(struct Table *table, const struct Model *model,
                const struct Display *display)
{
    // If shares are not sampled, such a column can be the first one. The first
    // column needs two blank cells behind the mark of the selected row.
    bool near = model->sampled && !model->latency;

    table->model = model;
    table->display = display;
    table->rows = (struct ListRows){.source = table,
                                    .count = (long)model->shown,
                                    .columns = table->columns,
                                    .column_count = COLUMN_COUNT,
                                    .sorts = true,
                                    .key = key,
                                    .has = has,
                                    .write = write};
    for (int i = 0; i < COLUMN_COUNT; i++) {
        const struct TableColumn *column = &TABLE[i];
        bool time = display && display->ns && column->time_title;
        table->columns[i] = (struct ListColumn){
            .title = time ? column->time_title : column->title,
            .width = column->width,
            .gap = near && column->near ? 1 : 2,
            .importance = column->importance,
            .room = column->room,
            .left = column->left,
            .path = i == COLUMN_FILE,
            .a_to_z = COLUMNS[i].by_text,
            .cut = column->cut};
        if (!Column_is_in((enum ColumnId)i, model->latency) ||
            (COLUMNS[i].sampled && model->snapshot && !model->sampled))
            table->rows.absent |= UINT32_C(1) << i;
        if (Column_is_of_fleet((enum ColumnId)i) && !model->fleet)
            table->rows.absent |= UINT32_C(1) << i;
        if (model->past && !COLUMNS[i].latency &&
            (i == COLUMN_RUN_SHARE || is_blank(model, i)))
            table->rows.absent |= UINT32_C(1) << i;
    }
    table->columns[COLUMN_FUNCTION].grows = 60;
    table->columns[COLUMN_FUNCTION].most = NAME_MOST;
    table->columns[COLUMN_FILE].grows = 40;
}
