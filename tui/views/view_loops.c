// SPDX-License-Identifier: MIT
#include "tui/views/view_loops.h"

#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/shown_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Largest number of lines for the selected stall's stack.
#define STACK_LINES 12
#define LOOPS_IN_TITLE 3 // Most loops in the title.

// --- The stalls

static uint64_t key_of(const struct ListRows *rows, long row)
{
    const struct StallRow *stall = ShownRows_at(rows, row);
    uint64_t at;
    memcpy(&at, &stall->at_s, sizeof at);
    return (at ^ stall->tid << 40) | 1;
}

static bool has_text(const struct ListRows *rows, long row, const char *text)
{
    const struct StallRow *stall = ShownRows_at(rows, row);
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
    const struct StallRow *stall = ShownRows_at(rows, row);
    char text[LIST_TEXT];
    if (column == BY_TIME) {
        ListCell_put(cell, STYLE_FAINT, Number_uptime(text, stall->at_s));
    } else if (column == BY_LENGTH) {
        ListCell_put(cell, STYLE_ALERT, Number_ns(text, stall->seconds * 1e9));
    } else if (column == BY_THREAD) {
        put(cell, STYLE_PLAIN, stall->thread);
    } else if (column == BY_TASK) {
        put(cell, stall->has_gil == 1 ? STYLE_FAINT : STYLE_PLAIN,
            stall->has_gil == 1 ? "(GIL kept)" : stall->task);
    } else if (column == BY_FUNCTION) {
        put(cell, STYLE_PLAIN, stall->function);
    } else {
        ListCell_place(cell, STYLE_FAINT, stall->file ? stall->file : "-",
                       stall->file ? stall->line : NULL_U64);
    }
}

// The newest stall comes first.
static void fill(struct ShownRows *shown)
{
    const struct Snapshot *now = shown->ui->model.snapshot;
    for (size_t i = now->stall_count; i-- > 0;)
        ShownRows_add(shown, &now->stalls[i], true);
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

static int list_height(const struct ShownRows *shown, int body)
{
    (void)shown;
    return body / 2 > STACK_LINES + 1 ? body - STACK_LINES - 1
                                      : body - body / 2;
}

static void draw_stack(struct Ui *ui, const struct ShownRows *shown,
                       const void *row, struct Box box, int lines)
{
    struct Canvas *canvas = &ui->canvas;
    const struct StallRow *stall = row;
    const char *stack = stall->stack, *end;
    char text[LIST_TEXT];
    (void)shown;
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

static void draw_title(struct Ui *ui, const struct ShownRows *shown)
{
    (void)shown;
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
    if (now->stalls_total == NULL_U64 && now->loop_count)
        Strip_put(
            &strip, 1, STYLE_ALERT,
            Feed_is_past(ui->feed)
                ? "steps were not observed at the end"
                : "steps are not observed now, because they are too many");
    for (size_t i = 0; i < now->loop_count && i < LOOPS_IN_TITLE; i++)
        add_loop(&strip, 2 + (int)i, &now->loops[i]);
    if (now->loop_count > LOOPS_IN_TITLE)
        Strip_put(&strip, 2, STYLE_FAINT, "of %zu loops", now->loop_count);
    Ui_draw_title(ui, &strip);
}

static const char *why_none(const struct ShownRows *shown)
{
    const struct Ui *ui = shown->ui;
    const struct Snapshot *now = ui->model.snapshot;
    if (now->stalls_total == NULL_U64)
        return Feed_is_past(ui->feed)
                   ? "No stall began in this part of the run."
                   : "Stalls are not known.";
    return now->loop_count ? "No step of an event loop has taken so long."
                           : "No event loop has run, and no thread has kept "
                             "the GIL so long.";
}

static const struct ShownKind STALLS = {.list = {.columns = COLUMNS_OF_STALLS,
                                                 .column_count = STALL_COLUMNS,
                                                 .newest_first = true,
                                                 .key = key_of,
                                                 .has = has_text,
                                                 .write = write_stall},
                                        .fill = fill,
                                        .draw_title = draw_title,
                                        .why_none = why_none,
                                        .id = offsetof(struct StallRow, id),
                                        .line = offsetof(struct StallRow, line),
                                        .height = list_height,
                                        .draw_below = draw_stack};

const struct View LOOPS_VIEW = {
    .name = "Event loops",
    .opens = BINDING(0, 0, "event loops: lag, steps and the log of stalls",
                     NULL, "Loops", 11, 'L'),
    .can = CAN_SEARCH | CAN_FUNCTION,
    .press = ShownRows_press,
    SHOWN_VIEW(STALLS),
    .line = ShownRows_line};
