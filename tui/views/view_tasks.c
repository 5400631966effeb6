// SPDX-License-Identifier: MIT
#include "tui/views/view_tasks.h"

#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/display.h"
#include "tui/views/header.h"
#include "tui/views/shown_rows.h"
#include "tui/views/task_marks.h"
#include "tui/views/time_bar.h"
#include "tui/views/ui.h"
#include "tui/views/view_task_group.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Least number of lines of the screen's body at which there is a bar.
#define BAR_LEAST 12

enum { TASKS_OPEN = REQUEST_OWN, TASKS_MODE };

static const struct Binding KEYS[] = {
    BINDING(TASKS_OPEN, 0, "the single tasks of the group", NULL, "Tasks", 2,
            PRESS_ENTER, PRESS_RIGHT),
    BINDING(TASKS_MODE, 0,
            "groups by coroutine, or by the line that creates them", NULL,
            "Mode", 9, 'm'),
    {.request = 0},
};

enum {
    TASKS_COUNT,
    TASKS_GROWTH,
    TASKS_OLDEST,
    TASKS_CPU,
    TASKS_STEPS,
    TASKS_STEP,
    TASKS_COROUTINE,
    TASKS_WAIT,
    TASKS_FILE,
    TASKS_COLUMNS
};

#define COLUMNS(coroutine)                                                     \
    {                                                                          \
        [TASKS_COUNT] = LIST_COLUMN("TASKS", 7, 1),                            \
        [TASKS_GROWTH] = LIST_COLUMN("GROWTH/min", 10, 2),                     \
        [TASKS_OLDEST] = LIST_COLUMN("OLDEST", 7, 2, .importance = 1),         \
        [TASKS_CPU] = LIST_COLUMN("CPU%", 5, 2, .importance = 3, .room = 12),  \
        [TASKS_STEPS] =                                                        \
            LIST_COLUMN("STEPS/s", 7, 2, .importance = 4, .room = 20),         \
        [TASKS_STEP] = LIST_COLUMN("STEP", 6, 2, .importance = 2),             \
        [TASKS_COROUTINE] =                                                    \
            LIST_COLUMN(coroutine, 14, 2, .grows = 60, .left = true,           \
                        .cut = CUT_START, .a_to_z = true),                     \
        [TASKS_WAIT] = LIST_COLUMN("MOST WAIT IN", 22, 2, .left = true,        \
                                   .cut = CUT_START, .a_to_z = true),          \
        [TASKS_FILE] = LIST_COLUMN("FILE", 12, 2, .importance = 5, .room = 20, \
                                   .grows = 40, .left = true, .path = true,    \
                                   .a_to_z = true),                            \
    }

static const struct ListColumn COLUMNS_OF_TASKS[] = COLUMNS("COROUTINE");
static const struct ListColumn COLUMNS_BY_PLACE[] = COLUMNS("CREATED IN");

static double step_of(const struct ShownRows *shown,
                      const struct TaskGroup *group)
{
    return TaskMarks_step_s(shown->ui->model.snapshot, group, NULL);
}

static const char *text_of(const struct ShownRows *shown, const void *row,
                           int column)
{
    const struct TaskGroup *group = row;
    const char *text = column == TASKS_COROUTINE ? group->coroutine
                       : column == TASKS_WAIT    ? group->waits_in
                                                 : group->file;
    (void)shown;
    return text ? text : "";
}

static double number_of(const struct ShownRows *shown, const void *row,
                        int column)
{
    const struct TaskGroup *group = row;
    return column == TASKS_COUNT    ? (double)group->count
           : column == TASKS_GROWTH ? group->growth_per_min
           : column == TASKS_CPU    ? group->cpu_share
           : column == TASKS_STEPS  ? group->steps_per_s
           : column == TASKS_STEP   ? step_of(shown, group)
                                    : group->oldest_s;
}

// --- The rows

static void write_growth(struct ListCell *cell, const struct TaskGroup *group)
{
    char number[NUMBER_MAX], text[NUMBER_MAX + 1];
    double growth = group->growth_per_min;
    enum Style style = TaskMarks_is_leak(group) ? STYLE_ALERT
                       : growth > 0             ? STYLE_HEAT_4
                                                : STYLE_PLAIN;
    if (isnan(growth))
        return;
    snprintf(text, sizeof text, "%s%s",
             growth > 0   ? "+"
             : growth < 0 ? "-"
                          : "",
             Number_rate(number, fabs(growth)));
    ListCell_put(cell, growth == 0 ? STYLE_FAINT : style, text);
}

static void write_cell(struct ListCell *cell, const struct ListRows *rows,
                       long row, int column)
{
    const struct ShownRows *shown = rows->source;
    const struct TaskGroup *group = shown->rows[row];
    uint64_t line = column == TASKS_WAIT ? group->wait_line : group->line;
    if (column == TASKS_COUNT) {
        ListCell_marked(cell, group->count_is_least ? ">=" : "",
                        (double)group->count, Number_count);
    } else if (column == TASKS_GROWTH) {
        write_growth(cell, group);
    } else if (column == TASKS_OLDEST) {
        TaskMarks_write_age(
            cell, group->oldest_s, group->oldest_is_least,
            TaskMarks_is_long(&shown->ui->model, group, group->oldest_s));
    } else if (column == TASKS_CPU) {
        ListCell_marked(cell, "", group->cpu_share, Number_percent);
    } else if (column == TASKS_STEPS) {
        ListCell_marked(cell, "", group->steps_per_s, Number_rate);
    } else if (column == TASKS_STEP) {
        TaskMarks_write_step(cell, step_of(shown, group));
    } else {
        ListCell_place(cell, column == TASKS_FILE ? STYLE_FAINT : STYLE_PLAIN,
                       text_of(shown, group, column),
                       column == TASKS_COROUTINE && !shown->ui->tasks_by_place
                           ? NULL_U64
                           : line);
    }
}

static bool has_text(const struct ListRows *rows, long row, const char *text)
{
    const struct TaskGroup *group = ShownRows_at(rows, row);
    return Text_has(group->coroutine, text) ||
           Text_has(group->waits_in, text) || Text_has(group->file, text);
}

static uint64_t key_of(const struct ListRows *rows, long row)
{
    return TaskGroup_key(ShownRows_at(rows, row));
}

static void fill(struct ShownRows *shown)
{
    const struct Ui *ui = shown->ui;
    size_t count;
    const struct TaskGroup *groups = TaskMarks_groups(ui, &count);
    for (size_t i = 0; i < count; i++)
        ShownRows_add(shown, &groups[i],
                      Model_shows_file(&ui->model, groups[i].file) &&
                          ShownRows_passes(shown, &groups[i]));
    if (ui->tasks_by_place)
        shown->list.columns = COLUMNS_BY_PLACE;
    ShownRows_drop_empty(shown, TASKS_STEP);
    if (ui->tasks_by_place && ui->lists[VIEW_TASKS].sort != TASKS_CPU)
        shown->list.absent |= 1 << TASKS_CPU;
    ShownRows_sort(shown);
}

// --- As a view

// Returns the number of calls of a function of the standard library, which is
// given by its name and the end of its file's path.
static double calls_of(const struct Snapshot *now, const char *name,
                       const char *ending)
{
    double calls = 0;
    for (size_t i = 0; i < now->function_count; i++) {
        const struct Function *function = &now->functions[i];
        size_t size = strlen(function->file), least = strlen(ending);
        if (strcmp(function->name, name) == 0 && size > least &&
            strcmp(function->file + size - least, ending) == 0)
            calls += Row_u64(function->calls);
    }
    return calls;
}

// Adds two numbers. Python calls one function for each coroutine that was never
// awaited, and another one for each error that no code of the program handles
// in an event loop. CPython 3.14 has put `_py_` before the name of the former's
// file.
static void add_forgotten(struct Strip *strip, const struct Snapshot *now)
{
    char number[NUMBER_MAX];
    double coroutines =
        calls_of(now, "_warn_unawaited_coroutine", "warnings.py");
    double errors = calls_of(now, "BaseEventLoop.call_exception_handler",
                             "/asyncio/base_events.py");
    if (coroutines > 0)
        Strip_put(strip, 2, STYLE_ALERT, "%s never awaited",
                  Number_count(number, coroutines));
    if (errors > 0) {
        Strip_put(strip, 2, STYLE_ALERT, "%s unhandled error%s",
                  Number_count(number, errors), errors == 1 ? "" : "s");
    }
}

static void draw_title(struct Ui *ui, const struct ShownRows *shown)
{
    (void)shown;
    const struct Snapshot *now = ui->model.snapshot;
    char number[NUMBER_MAX];
    struct Strip strip;
    uint64_t found = 0, placed = 0, leaks = 0;
    size_t count;
    const struct TaskGroup *groups = TaskMarks_groups(ui, &count);
    for (size_t i = 0; i < now->tasks_group_count; i++)
        found += now->tasks_groups[i].count;
    for (size_t i = 0; i < count; i++) {
        placed += groups[i].count;
        leaks += TaskMarks_is_leak(&groups[i]);
    }
    Strip_init(&strip);
    Strip_put(&strip, 0, STYLE_STRONG, "Tasks");
    Strip_item(&strip, 0);
    bool whole = now->tasks_total != NULL_U64;
    Strip_add(&strip, STYLE_PLAIN, "%s",
              Number_grouped(number, whole ? now->tasks_total : found));
    Strip_add(&strip, STYLE_FAINT,
              whole                    ? " of asyncio"
              : Feed_is_past(ui->feed) ? " recorded"
                                       : " found so far");
    if (ui->tasks_by_place)
        Strip_put(&strip, 1, STYLE_FAINT,
                  "by creation, %s of them since you look",
                  Number_grouped(number, placed));
    if (leaks)
        Strip_put(&strip, 1, STYLE_ALERT,
                  "%llu %s only grown for a minute: a leak?",
                  (unsigned long long)leaks,
                  leaks == 1 ? "group has" : "groups have");
    add_forgotten(&strip, now);
    Header_add_filter(&strip, &ui->model, 12);
    Ui_draw_title(ui, &strip);
}

// Draws the parts of the time of the selected coroutine. Returns the number of
// lines that it has used.
static int draw_bar(struct Ui *ui, const struct TaskGroup *group, int y)
{
    const struct Row *row = Model_row_of(&ui->model, group->id);
    struct Box line = {y, 2, ui->canvas.width - 3};
    if (!row || ui->layout.body_height < BAR_LEAST)
        return 0;
    TimeBar_draw(&ui->canvas, line, row, ui->model.snapshot);
    return 1;
}

static int list_height(const struct ShownRows *shown, int body)
{
    const struct TaskGroup *group = ShownRows_selected(shown);
    return group && group->chain_count ? List_half(&shown->list, body) : body;
}

static void draw_below(struct Ui *ui, const struct ShownRows *shown,
                       const void *row, struct Box box, int height)
{
    const struct TaskGroup *group = row;
    const struct TaskChainView chain = {group->task, group->chain,
                                        group->chain_count};
    int bar = draw_bar(ui, group, box.y);
    (void)shown;
    box.y += bar;
    TaskMarks_draw_chain(ui, &chain, box, height - bar - 1);
}

static bool is_reading(const struct Ui *ui)
{
    const struct Snapshot *now = ui->model.snapshot;
    return !Feed_is_replay(ui->feed) && now->tasks_total != 0 &&
           now->tasks_group_count == 0;
}

static const char *why_none(const struct ShownRows *shown)
{
    const struct Ui *ui = shown->ui;
    const struct Snapshot *now = ui->model.snapshot;
    return now->tasks_total == 0 ? "asyncio has no tasks now."
           : Feed_is_past(ui->feed)
               ? "The recording has no tasks: no event loop ran, or the budget "
                 "did not pay for reading its tasks."
           : Feed_is_replay(ui->feed) ? "The recording has no tasks here."
           : is_reading(ui)
               ? "The tasks are being read."
               : "No task was created since you look. m groups by coroutine.";
}

static void want(struct Ui *ui)
{
    if (!Feed_is_replay(ui->feed))
        Feed_ask(ui->feed, MESSAGE_TASKS, 0);
}

static bool press(struct Ui *ui, int request, uint32_t key)
{
    struct ShownRows shown;
    enum ListAnswer answer = ShownRows_answer(&shown, ui, request, key);
    const struct TaskGroup *group = ShownRows_selected(&shown);
    bool opens = answer == LIST_OPENS || request == TASKS_OPEN;
    if (opens && group)
        ViewTaskGroup_open(ui, group);
    if (request == TASKS_MODE)
        ui->tasks_by_place = !ui->tasks_by_place;
    return answer != LIST_IGNORES || opens || request == TASKS_MODE;
}

static const struct ShownKind GROUPS = {.list = {.columns = COLUMNS_OF_TASKS,
                                                 .column_count = TASKS_COLUMNS,
                                                 .sorts = true,
                                                 .key = key_of,
                                                 .has = has_text,
                                                 .write = write_cell},
                                        .text = text_of,
                                        .number = number_of,
                                        .fill = fill,
                                        .draw_title = draw_title,
                                        .why_none = why_none,
                                        .id = offsetof(struct TaskGroup, id),
                                        .height = list_height,
                                        .draw_below = draw_below};

const struct View TASKS_VIEW = {
    .name = "Tasks",
    .opens = BINDING(0, 0, "tasks of asyncio: number, age, where they wait",
                     NULL, "Tasks", 12, 'T'),
    .own = KEYS,
    .can = CAN_SORT | CAN_SEARCH | CAN_FILTER | CAN_FUNCTION | CAN_OWN_CODE,
    .want = want,
    .is_reading = is_reading,
    .press = press,
    SHOWN_VIEW(GROUPS)};
