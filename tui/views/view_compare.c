// SPDX-License-Identifier: MIT
#include "tui/views/view_compare.h"

#include "tui/model/json.h"
#include "tui/model/run_numbers.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/display.h"
#include "tui/views/ui.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

// Each measure (enum Measure) has PARTS columns: the values of both runs, and
// the change.
enum {
    SHARE_A,
    SHARE_B,
    SHARE_CHANGE,
    PARTS,
    MEAN_A = PARTS,
    MEAN_B,
    MEAN_CHANGE,
    RATE_A,
    RATE_B,
    RATE_CHANGE,
    WAIT_A,
    WAIT_B,
    WAIT_CHANGE,
    FUNCTION,
    WAITS_FOR,
    PLACE,
    COLUMNS_OF_RUNS
};

static const struct ListColumn COLUMNS_OF[COLUMNS_OF_RUNS] = {
    [SHARE_A] = LIST_COLUMN("SHARE", 6, 2),
    [SHARE_B] = LIST_COLUMN("AFTER", 6, 1),
    [SHARE_CHANGE] = LIST_COLUMN("CHANGE", 12, 1),
    [MEAN_A] = LIST_COLUMN("CPU/CALL", 8, 2, .importance = 3, .room = 20),
    [MEAN_B] = LIST_COLUMN("AFTER", 7, 1, .importance = 2, .room = 20),
    [MEAN_CHANGE] = LIST_COLUMN("CHANGE", 10, 1, .importance = 1, .room = 20),
    [RATE_A] = LIST_COLUMN("CALLS/s", 7, 2, .importance = 7, .room = 34),
    [RATE_B] = LIST_COLUMN("AFTER", 7, 1, .importance = 6, .room = 34),
    [RATE_CHANGE] = LIST_COLUMN("CHANGE", 10, 1, .importance = 5, .room = 34),
    [WAIT_A] = LIST_COLUMN("WAIT", 6, 2, .importance = 11, .room = 48),
    [WAIT_B] = LIST_COLUMN("AFTER", 6, 1, .importance = 10, .room = 48),
    [WAIT_CHANGE] = LIST_COLUMN("CHANGE", 10, 1, .importance = 8, .room = 48),
    [FUNCTION] = LIST_COLUMN("FUNCTION", 16, 2, .grows = 60, .most = 64,
                             .left = true, .cut = CUT_START),
    [WAITS_FOR] = LIST_COLUMN("WAITS FOR", 9, 2, .importance = 9, .room = 48,
                              .left = true),
    [PLACE] = LIST_COLUMN("FILE:LINE", 14, 2, .importance = 4, .room = 20,
                          .grows = 40, .left = true, .path = true),
};

// Writes a change as "+12.9 ±0.6" if `points` is true, otherwise as "+12.9%
// ±0.6". If the change is noise, writes "= ±0.6".
static void put_change(struct ListCell *cell, const struct Measured *measured,
                       bool points)
{
    char text[64];
    double change = measured->change;
    double size = fabs(100 * change), rough = 100 * measured->error;
    int digits = rough < 1 ? 1 : 0;
    const char *unit = points ? "" : "%";
    if (!isfinite(change)) {
        ListCell_put(cell, STYLE_FAINT, "");
        return;
    }
    if (!measured->apart) {
        snprintf(text, sizeof text, "= ±%.*f", digits, rough);
        ListCell_put(cell, STYLE_FAINT, isfinite(rough) ? text : "=");
        return;
    }
    if (size >= 1000)
        snprintf(text, sizeof text, "%sx%.0f", change < 0 ? "-" : "",
                 1 + change);
    else
        snprintf(text, sizeof text, "%s%.*f%s ±%.*f", change < 0 ? "-" : "+",
                 digits, size, unit, digits, rough);
    ListCell_put(cell, change > 0 ? STYLE_HEAT_4 : STYLE_ARMED, text);
}

static void put_share(struct ListCell *cell, double share)
{
    char text[NUMBER_MAX];
    ListCell_put(cell, share > 0 ? STYLE_PLAIN : STYLE_FAINT,
                 share > 0 ? Number_percent(text, share) : "");
}

static void write_measured(struct ListCell *cell,
                           const struct ComparedFunction *f, int which,
                           int part)
{
    const struct Measured *measured = &f->of[which];
    double number = part ? measured->b : measured->a;
    if (part == SHARE_CHANGE)
        put_change(cell, measured,
                   which == MEASURE_SHARE || which == MEASURE_WAIT);
    else if (which == MEASURE_SHARE || which == MEASURE_WAIT)
        put_share(cell, number);
    else
        ListCell_number(cell, number,
                        which == MEASURE_MEAN ? Number_ns : Number_rate);
}

// Writes the kind of wait that has changed most in the function.
static void put_kind(struct ListCell *cell, const struct ComparedFunction *f)
{
    const char *kind = f->wait.apart ? Comparison_wait(f) : NULL;
    ListCell_put(cell, STYLE_PLAIN, kind ? kind : "");
}

static void write(struct ListCell *cell, const struct ListRows *rows, long row,
                  int column)
{
    const struct Comparison *comparison = rows->source;
    const struct ComparedFunction *f = &comparison->functions[row];
    if (column < FUNCTION)
        write_measured(cell, f, column / PARTS, column % PARTS);
    else if (column == FUNCTION)
        ListCell_put(cell, f->apart ? STYLE_STRONG : STYLE_PLAIN, f->name);
    else if (column == WAITS_FOR)
        put_kind(cell, f);
    else
        ListCell_place(cell, STYLE_FAINT, f->file, f->line);
}

static bool has_text(const struct ListRows *rows, long row, const char *text)
{
    const struct Comparison *comparison = rows->source;
    return Text_has(comparison->functions[row].name, text) ||
           Text_has(comparison->functions[row].file, text);
}

static struct ListRows rows_of(const struct Comparison *comparison)
{
    return (struct ListRows){.source = comparison,
                             .count = (long)comparison->function_count,
                             .columns = COLUMNS_OF,
                             .column_count = COLUMNS_OF_RUNS,
                             .has = has_text,
                             .write = write};
}

void ViewCompare_draw(struct Canvas *canvas, struct List *list,
                      const struct Comparison *comparison, struct Box box,
                      int height)
{
    struct ListRows rows = rows_of(comparison);
    List_draw(list, &rows, canvas, box, height);
}

// --- The view

static void draw_title(struct Ui *ui)
{
    const struct Comparison *comparison = &ui->comparison;
    struct Strip strip;
    Strip_init(&strip);
    Strip_put(&strip, 0, STYLE_STRONG, "Two runs");
    Strip_put(&strip, 1, STYLE_PLAIN, "%llu",
              (unsigned long long)comparison->apart);
    Strip_add(&strip, STYLE_FAINT, " of %zu functions told apart",
              comparison->function_count);
    for (size_t i = 0; i < comparison->note_count; i++) {
        Strip_put(&strip, 2 + (int)i, STYLE_FAINT, "%s",
                  comparison->notes[i].text);
        Strip_flex(&strip, 20);
    }
    Ui_draw_title(ui, &strip);
}

// Lists the changed numbers of the whole run and the changed latencies, in at
// most a third of the lines. Returns the number of lines that it has used.
static int draw_numbers(struct Ui *ui)
{
    const struct Comparison *comparison = &ui->comparison;
    const struct Layout *layout = &ui->layout;
    int most = layout->body_height / 3, count = 0, line;
    while (count < (int)comparison->number_count &&
           comparison->numbers[count].measured.apart)
        count++;
    int shown = count + 1 < most ? count : most - 1;
    if (shown <= 0)
        return 0;
    line = layout->body_y + layout->body_height - shown - 1;
    Canvas_paint(&ui->canvas, (struct Box){line, 0, ui->canvas.width},
                 STYLE_HEAD);
    Canvas_fit(&ui->canvas, (struct Box){line, 2, ui->canvas.width - 3},
               STYLE_HEAD, CUT_END,
               "OF THE WHOLE RUN, AND LATENCIES: WHAT CHANGED MOST");
    for (int i = 0; i < shown; i++) {
        char text[LIST_TEXT];
        RunNumbers_text(&comparison->numbers[i], text, sizeof text);
        Canvas_fit(&ui->canvas,
                   (struct Box){line + 1 + i, 2, ui->canvas.width - 3},
                   STYLE_PLAIN, CUT_END, text);
    }
    return shown + 1;
}

static void draw(struct Ui *ui, const struct Status *status)
{
    const struct Layout *layout = &ui->layout;
    if (!ui->comparison.runs) {
        Ui_draw_nothing(ui, Status_waiting(status));
        return;
    }
    draw_title(ui);
    int lines = draw_numbers(ui);
    ViewCompare_draw(&ui->canvas, &ui->lists[VIEW_COMPARE], &ui->comparison,
                     (struct Box){layout->table_y, 0, ui->canvas.width},
                     layout->body_height - lines);
}

static bool press(struct Ui *ui, int request, uint32_t key)
{
    struct ListRows rows = rows_of(&ui->comparison);
    return List_press(&ui->lists[VIEW_COMPARE], &rows, request, key) ==
           LIST_DONE;
}

static bool find(struct Ui *ui, int step, bool here)
{
    struct ListRows rows = rows_of(&ui->comparison);
    return List_find(&ui->lists[VIEW_COMPARE], &rows, ui->model.search, step,
                     here);
}

static uint64_t function(const struct Ui *ui)
{
    struct ListRows rows = rows_of(&ui->comparison);
    long row = List_selected(&ui->lists[VIEW_COMPARE], &rows);
    uint64_t id = row < 0 ? 0 : ui->comparison.functions[row].id;
    return id == NULL_U64 ? 0 : id;
}

static int json(const struct Ui *ui, struct Bytes *out)
{
    return ui->comparison.runs
               ? Json_record(out, &COMPARISON_RECORD, &ui->comparison)
               : -ENODATA;
}

const struct View COMPARE_VIEW = {
    .name = "Two runs",
    .opens = BINDING(0, CAN_COMPARE,
                     "two runs: what differs, if two recordings are given",
                     NULL, "Compare", 1, 'd'),
    .can = CAN_SEARCH | CAN_FUNCTION,
    .draw = draw,
    .press = press,
    .find = find,
    .function = function,
    .json = json};
