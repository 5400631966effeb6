// SPDX-License-Identifier: MIT
#include "tui/views/view_lines.h"

#include "tui/screen/gauge.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/header.h"
#include "tui/views/navigation.h"
#include "tui/views/ui.h"

#include <math.h>
#include <stdio.h>

static bool has(const struct LineRow *line, const char *text)
{
    return Text_has(line->function, text) || Text_has(line->file, text);
}

static bool passes(const struct LineRow *line, const struct Model *model)
{
    return has(line, model->filter) && Model_shows_file(model, line->file);
}

static const struct LineRow *line_at(const struct Model *model, long row)
{
    const struct Snapshot *now = model->snapshot;
    for (size_t i = 0; now && i < now->line_count; i++)
        if (passes(&now->lines[i], model) && row-- == 0)
            return &now->lines[i];
    return NULL;
}

static uint64_t key_of(const struct ListRows *rows, long row)
{
    const struct LineRow *line = line_at(rows->source, row);
    return (line->id << 24 ^ line->line) | UINT64_C(1) << 63;
}

static bool has_text(const struct ListRows *rows, long row, const char *text)
{
    return has(line_at(rows->source, row), text);
}

enum { BY_SHARE, BY_RATE, BY_HITS, BY_FUNCTION, BY_PLACE, LINE_COLUMNS };

static const struct ListColumn COLUMNS_OF_LINES[LINE_COLUMNS] = {
    [BY_SHARE] = LIST_COLUMN("SHARE", 6, 1),
    [BY_RATE] = LIST_COLUMN("HITS/s", 7, 2, .importance = 1, .room = 14),
    [BY_HITS] = LIST_COLUMN("HITS", 7, 2, .importance = 2, .room = 14),
    [BY_FUNCTION] = LIST_COLUMN("FUNCTION", 12, 2, .grows = 60, .left = true,
                                .cut = CUT_START),
    [BY_PLACE] = LIST_COLUMN("FILE:LINE", 12, 2, .grows = 40, .left = true,
                             .path = true),
};

// Writes a number of hits. `>=` marks a lower bound.
static void put_hits(struct ListCell *cell, const struct LineRow *line)
{
    char number[NUMBER_MAX], text[NUMBER_MAX + 2];
    if (line->hits == NULL_U64)
        return;
    snprintf(text, sizeof text, "%s%s", line->hits_exact == 1 ? "" : ">=",
             Number_count(number, (double)line->hits));
    ListCell_put(cell, line->hits ? STYLE_PLAIN : STYLE_FAINT, text);
}

// Writes a rate. `~` marks an estimate.
static void put_rate(struct ListCell *cell, const struct LineRow *line)
{
    char number[NUMBER_MAX], text[NUMBER_MAX + 1];
    if (isnan(line->hits_per_s))
        return;
    snprintf(text, sizeof text, "%s%s", line->hits_exact == 1 ? "" : "~",
             Number_rate(number, line->hits_per_s));
    ListCell_put(cell, STYLE_PLAIN, text);
}

static void write(struct ListCell *cell, const struct ListRows *rows, long row,
                  int column)
{
    const struct LineRow *line = line_at(rows->source, row);
    char text[NUMBER_MAX];
    if (column == BY_SHARE && isfinite(line->share))
        ListCell_put(cell, Gauge_heat(line->share),
                     Number_percent(text, line->share));
    else if (column == BY_RATE)
        put_rate(cell, line);
    else if (column == BY_HITS)
        put_hits(cell, line);
    else if (column == BY_FUNCTION)
        ListCell_put(cell, STYLE_PLAIN,
                     line->function ? Text_tail(line->function, 960) : "?");
    else if (column == BY_PLACE)
        ListCell_place(cell, STYLE_FAINT, line->file, line->line);
}

static struct ListRows rows_of(const struct Model *model)
{
    const struct Snapshot *now = model->snapshot;
    struct ListRows rows = {.source = model,
                            .columns = COLUMNS_OF_LINES,
                            .column_count = LINE_COLUMNS,
                            .key = key_of,
                            .has = has_text,
                            .write = write};
    uint32_t unknown = 1 << BY_RATE | 1 << BY_HITS;
    for (size_t i = 0; now && i < now->line_count; i++) {
        rows.count += passes(&now->lines[i], model);
        if (now->lines[i].hits != NULL_U64)
            unknown = 0;
    }
    rows.absent = unknown;
    return rows;
}

// --- As a view

static void want(struct Ui *ui)
{
    if (!Feed_is_replay(ui->feed))
        Feed_lines(ui->feed);
}

static void draw_title(struct Ui *ui)
{
    const struct Snapshot *now = ui->model.snapshot;
    struct Strip strip;
    double share = 0;
    char number[NUMBER_MAX];
    Strip_init(&strip);
    Strip_put(&strip, 0, STYLE_STRONG, "Hottest lines");
    for (size_t i = 0; i < now->line_count; i++)
        if (passes(&now->lines[i], &ui->model) && now->lines[i].share > 0)
            share += now->lines[i].share;
    if (share > 0)
        Strip_label(&strip, 1, "together", "%s", Number_percent(number, share));
    Header_add_filter(&strip, &ui->model, 26);
    Ui_draw_title(ui, &strip);
}

static const char *why_none(const struct Ui *ui)
{
    const struct Snapshot *now = ui->model.snapshot;
    if (now->line_count)
        return ui->model.own_only && !*ui->model.filter
                   ? "The program's own code has none. O shows all code."
                   : "The filter hides all of it. Esc, Esc drops it.";
    if (Feed_is_replay(ui->feed))
        return "This recording has no lines.";
    return "No line is known yet.";
}

static void draw(struct Ui *ui, const struct Status *status)
{
    struct Box box = {ui->layout.table_y, 0, ui->canvas.width};
    struct ListRows rows = rows_of(&ui->model);
    Header_draw(&ui->canvas, &ui->model, status);
    if (!ui->model.snapshot) {
        Ui_draw_nothing(ui, Status_waiting(status));
        return;
    }
    draw_title(ui);
    List_draw(&ui->lists[VIEW_LINES], &rows, &ui->canvas, box,
              ui->layout.body_height);
    if (!rows.count)
        Ui_draw_nothing(ui, why_none(ui));
}

static bool find(struct Ui *ui, int step, bool here)
{
    struct ListRows rows = rows_of(&ui->model);
    return List_find(&ui->lists[VIEW_LINES], &rows, ui->model.search, step,
                     here);
}

static const struct LineRow *selected(const struct Ui *ui)
{
    struct ListRows rows = rows_of(&ui->model);
    long row = List_selected(&ui->lists[VIEW_LINES], &rows);
    return row < 0 ? NULL : line_at(&ui->model, row);
}

static uint64_t selected_function(const struct Ui *ui)
{
    const struct LineRow *line = selected(ui);
    return line && line->id != NULL_U64 ? line->id : 0;
}

static uint64_t selected_line(const struct Ui *ui)
{
    const struct LineRow *line = selected(ui);
    return line ? line->line : NULL_U64;
}

static bool press(struct Ui *ui, int request, uint32_t key)
{
    struct ListRows rows = rows_of(&ui->model);
    return Navigation_press(ui, VIEW_LINES, &rows, request, key);
}

const struct View LINES_VIEW = {
    .name = "Lines",
    .opens = BINDING(0, 0, "the hottest lines; in a search, the next match",
                     NULL, "Lines", 11, 'n'),
    .can = CAN_SEARCH | CAN_FILTER | CAN_FUNCTION | CAN_OWN_CODE,
    .want = want,
    .draw = draw,
    .press = press,
    .find = find,
    .function = selected_function,
    .line = selected_line};
