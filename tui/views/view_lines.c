// SPDX-License-Identifier: MIT
#include "tui/views/view_lines.h"

#include "tui/screen/gauge.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/header.h"
#include "tui/views/shown_rows.h"

#include <math.h>
#include <stdio.h>

static uint64_t key_of(const struct ListRows *rows, long row)
{
    const struct LineRow *line = ShownRows_at(rows, row);
    return (line->id << 24 ^ line->line) | UINT64_C(1) << 63;
}

static bool has_text(const struct ListRows *rows, long row, const char *text)
{
    const struct LineRow *line = ShownRows_at(rows, row);
    return Text_has(line->function, text) || Text_has(line->file, text);
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
    const struct LineRow *line = ShownRows_at(rows, row);
    char text[NUMBER_MAX];
    if (column == BY_SHARE && isfinite(line->share))
        ListCell_put(cell, Gauge_heat(line->share),
                     Number_percent(text, line->share));
    else if (column == BY_RATE)
        put_rate(cell, line);
    else if (column == BY_HITS)
        ListCell_marked(cell,
                        line->hits_exact == 1 ? "" : ">=", Row_u64(line->hits),
                        Number_count);
    else if (column == BY_FUNCTION)
        ListCell_put(cell, STYLE_PLAIN, line->function ? line->function : "?");
    else if (column == BY_PLACE)
        ListCell_place(cell, STYLE_FAINT, line->file, line->line);
}

static void fill(struct ShownRows *shown)
{
    const struct Model *model = &shown->ui->model;
    const struct Snapshot *now = model->snapshot;
    shown->list.absent = 1 << BY_RATE | 1 << BY_HITS;
    for (size_t i = 0; i < now->line_count; i++) {
        const struct LineRow *line = &now->lines[i];
        ShownRows_add(shown, line,
                      Model_shows_file(model, line->file) &&
                          ShownRows_passes(shown, line));
        if (line->hits != NULL_U64)
            shown->list.absent = 0;
    }
}

// --- As a view

static void want(struct Ui *ui)
{
    if (!Feed_is_replay(ui->feed))
        Feed_ask(ui->feed, MESSAGE_LINES, 0);
}

static void draw_title(struct Ui *ui, const struct ShownRows *shown)
{
    struct Strip strip;
    double share = 0;
    char number[NUMBER_MAX];
    Strip_init(&strip);
    Strip_put(&strip, 0, STYLE_STRONG, "Hottest lines");
    for (long i = 0; i < shown->list.count; i++)
        share += fmax(((const struct LineRow *)shown->rows[i])->share, 0);
    if (share > 0)
        Strip_label(&strip, 1, "together", "%s", Number_percent(number, share));
    Header_add_filter(&strip, &ui->model, 26);
    Ui_draw_title(ui, &strip);
}

static const char *why_none(const struct ShownRows *shown)
{
    return Feed_is_replay(shown->ui->feed)
               ? "This recording has no lines."
               : "The hottest lines are being looked for.";
}

static const struct ShownKind LINES = {.list = {.columns = COLUMNS_OF_LINES,
                                                .column_count = LINE_COLUMNS,
                                                .key = key_of,
                                                .has = has_text,
                                                .write = write},
                                       .fill = fill,
                                       .draw_title = draw_title,
                                       .why_none = why_none,
                                       .id = offsetof(struct LineRow, id),
                                       .line = offsetof(struct LineRow, line)};

const struct View LINES_VIEW = {
    .name = "Lines",
    .opens = BINDING(0, 0, "the hottest lines; in a search, the next match",
                     NULL, "Lines", 11, 'n'),
    .can = CAN_SEARCH | CAN_FILTER | CAN_FUNCTION | CAN_OWN_CODE,
    .want = want,
    .press = ShownRows_press,
    SHOWN_VIEW(LINES),
    .line = ShownRows_line};
