// SPDX-License-Identifier: MIT
#include "tui/views/view_loops.h"

#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/header.h"
#include "tui/views/navigation.h"
#include "tui/views/ui.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Largest number of lines for the selected stall's stack.
#define STACK_LINES 12
#define LOOPS_IN_TITLE 3 // Most loops in the title.

// --- The stalls

// Returns the stall that is shown in a row. The newest stall comes first.
static const struct StallRow *stall_at(const struct Model *model, long row)
{
    const struct Snapshot *now = model->snapshot;
    return &now->stalls[now->stall_count - 1 - (size_t)row];
}

static uint64_t key_of(const struct ListRows *rows, long row)
{
    const struct StallRow *stall = stall_at(rows->source, row);
    uint64_t at;
    memcpy(&at, &stall->at_s, sizeof at);
    return (at ^ stall->tid << 40) | 1;
}

static bool has_text(const struct ListRows *rows, long row, const char *text)
{
    const struct StallRow *stall = stall_at(rows->source, row);
    return Text_has(stall->function, text) || Text_has(stall->file, text) ||
           Text_has(stall->task, text) || Text_has(stall->thread, text);
}

enum {
    BY_TIME,
    BY_LENGTH,
    BY_THREAD,
    BY_TASK,
    BY_FUNCTION,
    BY_FILE,
    STALL_COLUMNS
};

static const struct ListColumn COLUMNS_OF_STALLS[STALL_COLUMNS] = {
    [BY_TIME] = LIST_COLUMN("UPTIME", 8, 2),
    [BY_LENGTH] = LIST_COLUMN("TOOK", 6, 2),
    [BY_THREAD] =
        LIST_COLUMN("THREAD", 12, 2, .importance = 2, .room = 30, .left = true),
    [BY_TASK] =
        LIST_COLUMN("TASK", 14, 2, .importance = 1, .room = 24, .left = true),
    [BY_FUNCTION] = LIST_COLUMN("FUNCTION", 12, 2, .grows = 60, .left = true,
                                .cut = CUT_START),
    [BY_FILE] = LIST_COLUMN("FILE:LINE", 12, 2, .grows = 40, .left = true,
                            .path = true),
};

static void put(struct ListCell *cell, enum Style style, const char *text)
{
    ListCell_put(cell, text ? style : STYLE_FAINT, text ? text : "-");
}

static void write_stall(struct ListCell *cell, const struct ListRows *rows,
                        long row, int column)
{
    const struct StallRow *stall = stall_at(rows->source, row);
    char text[LIST_TEXT];
    if (column == BY_TIME) {
        ListCell_put(cell, STYLE_FAINT, Number_uptime(text, stall->at_s));
    } else if (column == BY_LENGTH) {
        ListCell_put(cell, STYLE_ALERT, Number_ns(text, stall->seconds * 1e9));
    } else if (column == BY_THREAD) {
        put(cell, STYLE_PLAIN, stall->thread);
    } else if (column == BY_TASK) {
        put(cell, STYLE_PLAIN, stall->task);
    } else if (column == BY_FUNCTION) {
        put(cell, STYLE_PLAIN,
            stall->function ? Text_tail(stall->function, 960) : NULL);
    } else {
        ListCell_place(cell, STYLE_FAINT, stall->file ? stall->file : "-",
                       stall->file ? stall->line : NULL_U64);
    }
}

static struct ListRows rows_of(const struct Model *model)
{
    return (struct ListRows){
        .source = model,
        .count = model->snapshot ? (long)model->snapshot->stall_count : 0,
        .columns = COLUMNS_OF_STALLS,
        .column_count = STALL_COLUMNS,
        .newest_first = true,
        .key = key_of,
        .has = has_text,
        .write = write_stall};
}

static const struct StallRow *selected(const struct Ui *ui)
{
    struct ListRows rows = rows_of(&ui->model);
    long row = List_selected(&ui->lists[VIEW_LOOPS], &rows);
    return row < 0 ? NULL : stall_at(&ui->model, row);
}

// --- The stack of the selected stall, the innermost function first

// Returns the last name before *end in `stack`, and moves *end to the ';'
// before this name.
static const char *pop_name(const char *stack, const char **end, int *length)
{
    const char *from = *end;
    while (from > stack && from[-1] != ';')
        from--;
    *length = (int)(*end - from);
    *end = from > stack ? from - 1 : stack;
    return from;
}

static void draw_stack(struct Canvas *canvas, const struct StallRow *stall,
                       struct Box box, int lines)
{
    const char *stack = stall->stack, *end;
    char text[LIST_TEXT];
    Canvas_paint(canvas, (struct Box){box.y, 0, canvas->width}, STYLE_HEAD);
    Canvas_put(canvas, box.y, 2, box.width, STYLE_HEAD,
               "STACK OF THE STALL, INNERMOST FIRST");
    if (!stack) {
        box = (struct Box){box.y + 1, 2, box.width - 3};
        Canvas_fit(canvas, box, STYLE_FAINT, CUT_END,
                   "No observation found it while it ran.");
        return;
    }
    end = stack + strlen(stack);
    for (int i = 1; i < lines && end > stack; i++) {
        int length;
        const char *name = pop_name(stack, &end, &length);
        snprintf(text, sizeof text, "%.*s", length, name);
        Canvas_fit(canvas, (struct Box){box.y + i, 2, box.width - 3},
                   i == 1 ? STYLE_PLAIN : STYLE_FAINT, CUT_START, text);
    }
}

// --- As a view

static void add_loop(struct Strip *strip, int importance,
                     const struct LoopRow *loop)
{
    char number[NUMBER_MAX];
    Strip_put(strip, importance, STYLE_FAINT, "%.40s ",
              loop->thread ? loop->thread : "-");
    if (isfinite(loop->steps_per_s))
        Strip_add(strip, STYLE_PLAIN, "%s",
                  Number_count(number, loop->steps_per_s));
    else
        Strip_add(strip, STYLE_PLAIN, "-");
    Strip_add(strip, STYLE_FAINT, " steps/s, lag ");
    Strip_add(strip, STYLE_PLAIN, "%s",
              isfinite(loop->lag_s) ? Number_ns(number, loop->lag_s * 1e9)
                                    : "-");
}

#define OFF "steps are not observed now, because they are too many"

// Returns true if the process does not observe the steps of event loops any
// more.
static bool are_off(const struct Snapshot *now)
{
    return now->stalls_total == NULL_U64 && now->loop_count > 0;
}

static void draw_title(struct Ui *ui)
{
    const struct Snapshot *now = ui->model.snapshot;
    char number[NUMBER_MAX];
    struct Strip strip;
    Strip_init(&strip);
    Strip_put(&strip, 0, STYLE_STRONG, "Event loops");
    if (now->stalls_total != NULL_U64) {
        Strip_put(&strip, 1, STYLE_PLAIN, "%s",
                  Number_grouped(number, now->stalls_total));
        Strip_add(&strip, STYLE_FAINT, " stall%s of ",
                  now->stalls_total == 1 ? "" : "s");
        Strip_add(&strip, STYLE_FAINT, "%s or more",
                  Number_ns(number, now->stall_limit_s * 1e9));
    }
    if (are_off(now))
        Strip_put(&strip, 1, STYLE_ALERT, "%s", OFF);
    for (size_t i = 0; i < now->loop_count && i < LOOPS_IN_TITLE; i++)
        add_loop(&strip, 2 + (int)i, &now->loops[i]);
    if (now->loop_count > LOOPS_IN_TITLE)
        Strip_put(&strip, 2, STYLE_FAINT, "of %zu loops", now->loop_count);
    Ui_draw_title(ui, &strip);
}

static const char *why_none(const struct Ui *ui)
{
    const struct Snapshot *now = ui->model.snapshot;
    if (now->stalls_total == NULL_U64)
        return Feed_is_past(ui->feed)
                   ? "No stall began in this part of the run."
                   : "Stalls are not known.";
    return now->loop_count ? "No step of an event loop has taken so long."
                           : "No event loop has run.";
}

static void draw(struct Ui *ui, const struct Status *status)
{
    struct Canvas *canvas = &ui->canvas;
    struct Box box = {ui->layout.table_y, 0, canvas->width};
    struct ListRows rows = rows_of(&ui->model);
    int height = ui->layout.body_height, lower = height / 2;
    Header_draw(canvas, &ui->model, status);
    if (!ui->model.snapshot) {
        Ui_draw_nothing(ui, Status_waiting(status));
        return;
    }
    draw_title(ui);
    if (lower > STACK_LINES + 1)
        lower = STACK_LINES + 1;
    List_draw(&ui->lists[VIEW_LOOPS], &rows, canvas, box, height - lower);
    if (!rows.count) {
        Ui_draw_nothing(ui, why_none(ui));
        return;
    }
    box.y = ui->layout.body_y + height - lower;
    draw_stack(canvas, selected(ui), box, lower);
}

static bool find(struct Ui *ui, int step, bool here)
{
    struct ListRows rows = rows_of(&ui->model);
    return List_find(&ui->lists[VIEW_LOOPS], &rows, ui->model.search, step,
                     here);
}

static uint64_t selected_function(const struct Ui *ui)
{
    const struct StallRow *stall = selected(ui);
    return stall && stall->id != NULL_U64 ? stall->id : 0;
}

static uint64_t selected_line(const struct Ui *ui)
{
    const struct StallRow *stall = selected(ui);
    return stall ? stall->line : NULL_U64;
}

static bool press(struct Ui *ui, int request, uint32_t key)
{
    struct ListRows rows = rows_of(&ui->model);
    return Navigation_press(ui, VIEW_LOOPS, &rows, request, key);
}

const struct View LOOPS_VIEW = {
    .name = "Event loops",
    .opens = BINDING(0, 0, "event loops: lag, steps and the log of stalls",
                     NULL, "Loops", 11, 'L'),
    .can = CAN_SEARCH | CAN_FUNCTION,
    .draw = draw,
    .press = press,
    .find = find,
    .function = selected_function,
    .line = selected_line};
