// SPDX-License-Identifier: MIT
// See view_task_group.h.
#define _GNU_SOURCE 1 // qsort_r, strverscmp
#include "tui/views/view_task_group.h"

#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/display.h"
#include "tui/views/header.h"
#include "tui/views/navigation.h"
#include "tui/views/task_marks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TASKS_MOST 500

enum {
    TASK_AGE,
    TASK_CPU,
    TASK_STEPS,
    TASK_STEP,
    TASK_STATE,
    TASK_NAME,
    TASK_WAITS_IN,
    TASK_WAITS_FOR,
    TASK_AWAITED_BY,
    TASK_COLUMNS
};

static const struct ListColumn COLUMNS_OF_TASKS[TASK_COLUMNS] = {
    [TASK_AGE] = {.title = "AGE", .width = 7, .gap = 1},
    [TASK_CPU] = {.title = "CPU%", .width = 6, .gap = 1, .importance = 1},
    [TASK_STEPS] =
        {.title = "STEPS", .width = 6, .gap = 1, .importance = 2, .room = 30},
    [TASK_STEP] = {.title = "STEP", .width = 6, .gap = 1},
    [TASK_STATE] =
        {.title = "STATE", .width = 5, .gap = 2, .left = true, .a_to_z = true},
    [TASK_NAME] = {.title = "TASK",
                   .width = 10,
                   .gap = 2,
                   .grows = 50,
                   .most = 60,
                   .left = true,
                   .a_to_z = true},
    [TASK_WAITS_IN] = {.title = "WAITS IN",
                       .width = 17,
                       .gap = 2,
                       .room = 14,
                       .grows = 50,
                       .most = 40,
                       .left = true,
                       .cut = CUT_START,
                       .a_to_z = true},
    [TASK_WAITS_FOR] =
        {.title = "FOR", .width = 9, .gap = 2, .left = true, .a_to_z = true},
    [TASK_AWAITED_BY] = {.title = "AWAITED BY",
                         .width = 10,
                         .gap = 2,
                         .left = true,
                         .a_to_z = true},
};

struct Singles { // The source of the rows with tasks.
    const struct Model *model;
    const struct TaskGroup *group; // NULL if the group has no tasks at present.
    const struct TaskRow *order[TASKS_MOST];
    struct ListRows rows;
};

static const struct TaskRow *task_at(const struct ListRows *rows, long row)
{
    return ((const struct Singles *)rows->source)->order[row];
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static const char *text_of(const struct TaskRow *task, int column)
{
    const struct StackPlace *inner =
        task->chain_count ? &task->chain[task->chain_count - 1] : NULL;
    return or_empty(column == TASK_STATE        ? task->state
                    : column == TASK_NAME       ? task->name
                    : column == TASK_WAITS_FOR  ? task->waits_for
                    : column == TASK_AWAITED_BY ? task->awaited_by
                    : inner                     ? inner->name
                                                : NULL);
}

static double step_of(const struct Singles *singles, const struct TaskRow *task)
{
    return TaskMarks_step_s(singles->model->snapshot, singles->group,
                            or_empty(task->name));
}

static void write_cell(struct ListCell *cell, const struct ListRows *rows,
                       long row, int column)
{
    const struct Singles *singles = rows->source;
    const struct TaskRow *task = singles->order[row];
    char number[NUMBER_MAX];
    if (column == TASK_AGE)
        TaskMarks_write_age(
            cell, task->age_s, task->age_is_least == 1,
            TaskMarks_is_long(singles->model, singles->group, task->age_s));
    else if (column == TASK_CPU)
        ListCell_share(cell, &singles->model->window, task->cpu_share);
    else if (column == TASK_STEPS)
        ListCell_put(cell, STYLE_PLAIN,
                     task->steps == NULL_U64
                         ? ""
                         : Number_count(number, (double)task->steps));
    else if (column == TASK_STEP)
        TaskMarks_write_step(cell, step_of(singles, task));
    else if (column == TASK_WAITS_IN && task->chain_count)
        ListCell_place(cell, STYLE_PLAIN, text_of(task, column),
                       task->chain[task->chain_count - 1].line);
    else
        ListCell_put(cell, column == TASK_STATE ? STYLE_FAINT : STYLE_PLAIN,
                     Text_tail(text_of(task, column), 960));
}

static bool has_text(const struct ListRows *rows, long row, const char *text)
{
    const struct TaskRow *task = task_at(rows, row);
    for (int column = TASK_STATE; column < TASK_COLUMNS; column++)
        if (Text_has(text_of(task, column), text))
            return true;
    return false;
}

static uint64_t key_of(const struct ListRows *rows, long row)
{
    uint64_t key = 5381;
    for (const char *at = text_of(task_at(rows, row), TASK_NAME); *at; at++)
        key = key * 33 + (uint8_t)*at;
    return key | 1;
}

// --- The order

struct SinglesOrder {
    const struct Singles *singles;
    const struct List *list;
};

static double number_of(const struct SinglesOrder *order,
                        const struct TaskRow *task)
{
    double number = order->list->sort == TASK_AGE   ? task->age_s
                    : order->list->sort == TASK_CPU ? task->cpu_share
                    : order->list->sort == TASK_STEPS
                        ? Row_u64(task->steps)
                        : step_of(order->singles, task);
    return isnan(number) ? -INFINITY : number;
}

static int compare(const void *left, const void *right, void *context)
{
    const struct TaskRow *one = *(const struct TaskRow *const *)left;
    const struct TaskRow *other = *(const struct TaskRow *const *)right;
    const struct SinglesOrder *order = context;
    int sort = order->list->sort, result;
    if (COLUMNS_OF_TASKS[sort].a_to_z) {
        result = strverscmp(text_of(one, sort), text_of(other, sort));
    } else {
        double a = number_of(order, one), b = number_of(order, other);
        result = (a < b) - (a > b);
    }
    if (order->list->invert)
        result = -result;
    if (!result)
        result = strverscmp(text_of(one, TASK_NAME), text_of(other, TASK_NAME));
    return result ? result : (one > other) - (one < other);
}

// Returns true if one of the listed tasks has a step in the log of stalls.
static bool stepped(const struct Singles *singles)
{
    for (long i = 0; i < singles->rows.count; i++)
        if (isfinite(step_of(singles, singles->order[i])))
            return true;
    return false;
}

// After fill() `singles` must not move, because `rows` points to it.
static void fill(struct Singles *singles, const struct Ui *ui)
{
    size_t count;
    const struct TaskGroup *groups = TaskMarks_groups(ui, &count);
    const struct List *list = &ui->lists[VIEW_TASK_GROUP];
    const char *filter = ui->model.filter;
    struct SinglesOrder order = {singles, list};
    singles->model = &ui->model;
    singles->group = NULL;
    singles->rows = (struct ListRows){.source = singles,
                                      .columns = COLUMNS_OF_TASKS,
                                      .column_count = TASK_COLUMNS,
                                      .sorts = true,
                                      .key = key_of,
                                      .has = has_text,
                                      .write = write_cell};
    for (size_t i = 0; i < count; i++)
        if (TaskGroup_key(&groups[i]) == ui->task_group)
            singles->group = &groups[i];
    if (!singles->group)
        return;
    // If the filter fits the group itself, all of its tasks are shown.
    bool whole = Text_has(singles->group->coroutine, filter) ||
                 Text_has(singles->group->file, filter);
    for (size_t i = 0; i < singles->group->task_count; i++) {
        long row = singles->rows.count;
        if (row == TASKS_MOST)
            break;
        singles->order[row] = &singles->group->tasks[i];
        singles->rows.count +=
            !*filter || whole || has_text(&singles->rows, row, filter);
    }
    if (!stepped(singles) && list->sort != TASK_STEP)
        singles->rows.absent = 1 << TASK_STEP;
    qsort_r(singles->order, (size_t)singles->rows.count, sizeof *singles->order,
            compare, &order);
}

// --- As a view

static void draw_title(struct Ui *ui, const struct TaskGroup *group)
{
    char number[NUMBER_MAX];
    struct Strip strip;
    Strip_init(&strip);
    Strip_item(&strip, 0);
    Strip_add(&strip, STYLE_STRONG, "Tasks");
    if (group) {
        Strip_item(&strip, 0);
        Strip_add(&strip, STYLE_PLAIN, "%.200s", or_empty(group->coroutine));
        Strip_item(&strip, 1);
        Strip_add(&strip, STYLE_PLAIN, "%s",
                  Number_grouped(number, group->count));
        if (group->task_count && group->task_count < group->count)
            Strip_add(&strip, STYLE_FAINT, ", the oldest %zu",
                      group->task_count);
    }
    Header_add_filter(&strip, &ui->model, 12);
    Ui_draw_title(ui, &strip);
}

static const char *why_none(const struct Ui *ui, const struct Singles *singles)
{
    if (!singles->group)
        return ui->tasks_by_place ? "No task was created there."
                                  : "This coroutine has no tasks now.";
    if (singles->group->task_count)
        return "The filter hides all of it. Esc, Esc drops it.";
    return Feed_is_replay(ui->feed) ? "The recording has no single tasks here."
                                    : "The tasks are being read.";
}

static void draw(struct Ui *ui, const struct Status *status)
{
    struct Canvas *canvas = &ui->canvas;
    struct List *list = &ui->lists[VIEW_TASK_GROUP];
    struct Box box = {ui->layout.table_y, 0, canvas->width};
    struct Singles singles;
    Header_draw(canvas, &ui->model, status);
    if (!ui->model.snapshot) {
        Ui_draw_nothing(ui, Status_waiting(status));
        return;
    }
    fill(&singles, ui);
    draw_title(ui, singles.group);
    // The list takes only as many lines as it needs, and at most half of the
    // body.
    int height = (ui->layout.body_height - 1) / 2;
    if (height > singles.rows.count)
        height = (int)singles.rows.count;
    List_draw(list, &singles.rows, canvas, box,
              height ? height : ui->layout.body_height);
    long row = List_selected(list, &singles.rows);
    if (height && row >= 0) {
        const struct TaskRow *task = singles.order[row];
        const struct TaskChainView chain = {task->name, task->chain,
                                            task->chain_count};
        box.y += height + 1;
        TaskMarks_draw_chain(ui, &chain, box,
                             ui->layout.body_height - height - 1);
    }
    if (!singles.rows.count)
        Ui_draw_nothing(ui, why_none(ui, &singles));
}

static void want(struct Ui *ui)
{
    if (!Feed_is_replay(ui->feed))
        Feed_task_group(ui->feed, ui->task_group);
}

static bool find(struct Ui *ui, int step, bool here)
{
    struct Singles singles;
    fill(&singles, ui);
    return List_find(&ui->lists[VIEW_TASK_GROUP], &singles.rows,
                     ui->model.search, step, here);
}

static uint64_t selected_function(const struct Ui *ui)
{
    struct Singles singles;
    fill(&singles, ui);
    return !singles.group || singles.group->id == NULL_U64 ? 0
                                                           : singles.group->id;
}

static bool press(struct Ui *ui, int request, uint32_t key)
{
    struct Singles singles;
    fill(&singles, ui);
    if (request == REQUEST_SORT_MENU)
        request = REQUEST_SORT_NEXT;
    return Navigation_press(ui, VIEW_TASK_GROUP, &singles.rows, request, key);
}

void ViewTaskGroup_open(struct Ui *ui, const struct TaskGroup *group)
{
    struct List *list = &ui->lists[VIEW_TASK_GROUP];
    ui->task_group = TaskGroup_key(group);
    list->selected = list->top = 0;
    list->key = 0;
    Navigation_open(ui, VIEW_TASK_GROUP);
    if (!Feed_is_replay(ui->feed)) // The tasks come with the next snapshot.
        Feed_refresh(ui->feed);
}

const struct View TASK_GROUP_VIEW = {.name = "Tasks of a group",
                                     .can = CAN_SORT | CAN_SEARCH | CAN_FILTER |
                                            CAN_FUNCTION,
                                     .want = want,
                                     .draw = draw,
                                     .press = press,
                                     .find = find,
                                     .function = selected_function};
