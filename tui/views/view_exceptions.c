// SPDX-License-Identifier: MIT
#include "tui/views/view_exceptions.h"

#include "ipc/base/utf8.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/header.h"
#include "tui/views/shown_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --- The kinds

static uint64_t key_of(const struct ListRows *rows, long row)
{
    const struct ExceptionRow *kind = ShownRows_at(rows, row);
    return Utf8_hash(kind->id, kind->type) | 1;
}

static bool has_text(const struct ListRows *rows, long row, const char *text)
{
    const struct ExceptionRow *kind = ShownRows_at(rows, row);
    return Text_has(kind->type, text) || Text_has(kind->function, text) ||
           Text_has(kind->file, text);
}

enum {
    BY_AGE,
    BY_RATE,
    BY_RAISED,
    BY_PASSED,
    BY_TYPE,
    BY_FUNCTION,
    BY_FILE,
    KIND_COLUMNS
};

static const struct ListColumn COLUMNS_OF_KINDS[KIND_COLUMNS] = {
    [BY_AGE] = LIST_COLUMN("AGE", 5, 1, .importance = 2, .room = 14),
    [BY_RATE] = LIST_COLUMN("RAISED/s", 8, 1, .importance = 1, .room = 14),
    [BY_RAISED] = LIST_COLUMN("RAISED", 6, 1),
    [BY_PASSED] = LIST_COLUMN("PASSED", 6, 1),
    [BY_TYPE] = LIST_COLUMN("TYPE", 18, 2, .left = true, .cut = CUT_START),
    [BY_FUNCTION] = LIST_COLUMN("FUNCTION", 12, 2, .grows = 60, .left = true,
                                .cut = CUT_START),
    [BY_FILE] = LIST_COLUMN("FILE:LINE", 12, 2, .room = 15, .grows = 40,
                            .left = true, .path = true),
};

static void write_kind(struct ListCell *cell, const struct ListRows *rows,
                       long row, int column)
{
    const struct ShownRows *shown = rows->source;
    const struct ExceptionRow *kind = shown->rows[row];
    const char *mark =
        shown->ui->model.snapshot->exception_totals_exact == 0 ? "~" : "";
    char text[NUMBER_MAX];
    if (column == BY_AGE && isfinite(kind->age_s))
        ListCell_put(cell, STYLE_FAINT, Number_age(text, kind->age_s));
    else if (column == BY_RATE)
        ListCell_number(cell, kind->raised_per_s, Number_rate);
    else if (column == BY_RAISED)
        ListCell_marked(cell, kind->error > 1 ? ">=" : mark,
                        Row_u64(kind->raised), Number_count);
    else if (column == BY_PASSED)
        ListCell_marked(cell, mark, Row_u64(kind->passed), Number_count);
    else if (column == BY_TYPE)
        ListCell_put(cell, STYLE_PLAIN, kind->type ? kind->type : "-");
    else if (column == BY_FUNCTION)
        ListCell_put(cell, kind->function ? STYLE_PLAIN : STYLE_FAINT,
                     kind->function ? kind->function : "(not traced)");
    else if (column == BY_FILE)
        ListCell_place(cell, STYLE_FAINT, kind->file, kind->line);
}

// Exceptions that were raised in their function come first. Exceptions that
// only passed through their function follow.
static void fill(struct ShownRows *shown)
{
    const struct Model *model = &shown->ui->model;
    const struct Snapshot *now = model->snapshot;
    for (int begins = 1; begins >= 0; begins--)
        for (size_t i = 0; i < now->exception_count; i++) {
            const struct ExceptionRow *kind = &now->exceptions[i];
            bool begun = kind->line != NULL_U64 || kind->raised != 0;
            ShownRows_add(shown, kind,
                          begun == begins &&
                              Model_shows_file(model, kind->file) &&
                              ShownRows_passes(shown, kind));
        }
}

// --- As a view

static void draw_title(struct Ui *ui, const struct ShownRows *shown)
{
    (void)shown;
    const struct Snapshot *now = ui->model.snapshot;
    char number[NUMBER_MAX];
    struct Strip strip;
    Strip_init(&strip);
    Strip_put(&strip, 0, STYLE_STRONG, "Exceptions");
    if (now->exception_totals_raised != NULL_U64) {
        Strip_label(&strip, 1, "raised", "%s",
                    Number_grouped(number, now->exception_totals_raised));
        Strip_label(&strip, 2, "passed", "%s",
                    Number_grouped(number, now->exception_totals_passed));
    }
    if (now->exception_totals_control != NULL_U64)
        Strip_label(&strip, 4, "control flow", "%s",
                    Number_grouped(number, now->exception_totals_control));
    if (now->exception_totals_exact == 0)
        Strip_put(&strip, 3, STYLE_FAINT, "estimated, too many to count");
    Header_add_filter(&strip, &ui->model, 26);
    Ui_draw_title(ui, &strip);
}

static const char *why_none(const struct ShownRows *shown)
{
    const struct Ui *ui = shown->ui;
    if (ui->model.snapshot->exception_totals_raised != NULL_U64)
        return "No exception has been raised.";
    const char *chosen = ui->model.snapshot->chosen;
    if (chosen && !strstr(chosen, "exception"))
        return "Exceptions are not among the chosen events (--events).";
    return Feed_is_past(ui->feed)
               ? "A recording has exceptions only for the whole run."
               : "Exceptions are not known.";
}

static const struct ShownKind KINDS = {.list = {.columns = COLUMNS_OF_KINDS,
                                                .column_count = KIND_COLUMNS,
                                                .newest_first = true,
                                                .key = key_of,
                                                .has = has_text,
                                                .write = write_kind},
                                       .fill = fill,
                                       .draw_title = draw_title,
                                       .why_none = why_none,
                                       .id = offsetof(struct ExceptionRow, id),
                                       .line =
                                           offsetof(struct ExceptionRow, line)};

const struct View EXCEPTIONS_VIEW = {
    .name = "Exceptions",
    .opens = BINDING(0, 0, "exceptions: by type and function, newest first",
                     NULL, "Exceptions", 11, 'x'),
    .can = CAN_SEARCH | CAN_FILTER | CAN_FUNCTION | CAN_OWN_CODE,
    .press = ShownRows_press,
    SHOWN_VIEW(KINDS),
    .line = ShownRows_line};
