// SPDX-License-Identifier: MIT
// See view_task_group.h.
#include "tui/views/view_task_group.h"

#include "ipc/base/utf8.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/display.h"
#include "tui/views/header.h"
#include "tui/views/navigation.h"
#include "tui/views/shown_rows.h"
#include "tui/views/task_marks.h"

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
    [TASK_AGE] = LIST_COLUMN("AGE", 7, 1),
    [TASK_CPU] = LIST_COLUMN("CPU%", 6, 1, .importance = 1),
    [TASK_STEPS] = LIST_COLUMN("STEPS", 6, 1, .importance = 2, .room = 30),
    [TASK_STEP] = LIST_COLUMN("STEP", 6, 1),
    [TASK_STATE] = LIST_COLUMN("STATE", 5, 2, .left = true, .a_to_z = true),
    [TASK_NAME] = LIST_COLUMN("TASK", 10, 2, .grows = 50, .most = 60,
                              .left = true, .a_to_z = true),
    [TASK_WAITS_IN] =
        LIST_COLUMN("WAITS IN", 17, 2, .room = 14, .grows = 50, .most = 40,
                    .left = true, .cut = CUT_START, .a_to_z = true),
    [TASK_WAITS_FOR] = LIST_COLUMN("FOR", 9, 2, .left = true, .a_to_z = true),
    [TASK_AWAITED_BY] =
        LIST_COLUMN("AWAITED BY", 10, 2, .left = true, .a_to_z = true),
};

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static double step_of(const struct ShownRows *shown, const struct TaskRow *task)
{
    return TaskMarks_step_s(shown->ui->model.snapshot, shown->of,
                            or_empty(task->name));
}

static const char *text_of(const struct ShownRows *shown, const void *row,
                           int column)
{
    const struct TaskRow *task = row;
    const struct StackPlace *inner =
        task->chain_count ? &task->chain[task->chain_count - 1] : NULL;
    (void)shown;
    return or_empty(column == TASK_STATE        ? task->state
                    : column == TASK_NAME       ? task->name
                    : column == TASK_WAITS_FOR  ? task->waits_for
                    : column == TASK_AWAITED_BY ? task->awaited_by
                    : inner                     ? inner->name
                                                : NULL);
}

static double number_of(const struct ShownRows *shown, const void *row,
                        int column)
{
    const struct TaskRow *task = row;
    return column == TASK_AGE     ? task->age_s
           : column == TASK_CPU   ? task->cpu_share
           : column == TASK_STEPS ? Row_u64(task->steps)
                                  : step_of(shown, task);
}

static void write_cell(struct ListCell *cell, const struct ListRows *rows,
                       long row, int column)
{
    const struct ShownRows *shown = rows->source;
    const struct Model *model = &shown->ui->model;
    const struct TaskRow *task = shown->rows[row];
    char number[NUMBER_MAX];
    if (column == TASK_AGE)
        TaskMarks_write_age(cell, task->age_s, task->age_is_least == 1,
                            TaskMarks_is_long(model, shown->of, task->age_s));
    else if (column == TASK_CPU)
        ListCell_share(cell, &model->window, task->cpu_share);
    else if (column == TASK_STEPS)
        ListCell_put(cell, STYLE_PLAIN,
                     task->steps == NULL_U64
                         ? ""
                         : Number_count(number, (double)task->steps));
    else if (column == TASK_STEP)
        TaskMarks_write_step(cell, step_of(shown, task));
    else if (column == TASK_WAITS_IN && task->chain_count)
        ListCell_place(cell, STYLE_PLAIN, text_of(shown, task, column),
                       task->chain[task->chain_count - 1].line);
    else
        ListCell_put(cell, column == TASK_STATE ? STYLE_FAINT : STYLE_PLAIN,
                     text_of(shown, task, column));
}

static bool has_text(const struct ListRows *rows, long row, const char *text)
{
    const struct TaskRow *task = ShownRows_at(rows, row);
    for (int column = TASK_STATE; column < TASK_COLUMNS; column++)
        if (Text_has(text_of(rows->source, task, column), text))
            return true;
    return false;
}

static uint64_t key_of(const struct ListRows *rows, long row)
{
    const struct TaskRow *task = ShownRows_at(rows, row);
    return Utf8_hash(0, task->name) | 1;
}

// Returns the group whose tasks are shown, or NULL if it has no tasks now.
static const struct TaskGroup *group_of(const struct Ui *ui)
{
    size_t count;
    const struct TaskGroup *groups = TaskMarks_groups(ui, &count);
    for (size_t i = count; i-- > 0;)
        if (TaskGroup_key(&groups[i]) == ui->task_group)
            return &groups[i];
    return NULL;
}

static void fill(struct ShownRows *shown)
{
    const struct TaskGroup *group = group_of(shown->ui);
    const char *filter = shown->ui->model.filter;
    shown->of = group;
    if (!group)
        return;
    // If the filter fits the group itself, all of its tasks are shown.
    bool whole =
        Text_has(group->coroutine, filter) || Text_has(group->file, filter);
    for (size_t i = 0; i < group->task_count; i++)
        ShownRows_add(shown, &group->tasks[i],
                      whole || ShownRows_passes(shown, &group->tasks[i]));
    ShownRows_drop_empty(shown, TASK_STEP);
    ShownRows_sort(shown);
}

// --- As a view

static void draw_title(struct Ui *ui, const struct ShownRows *shown)
{
    const struct TaskGroup *group = shown->of;
    char number[NUMBER_MAX];
    struct Strip strip;
    Strip_init(&strip);
    Strip_put(&strip, 0, STYLE_STRONG, "Tasks");
    if (group) {
        Strip_put(&strip, 0, STYLE_PLAIN, "%.200s", or_empty(group->coroutine));
        Strip_put(&strip, 1, STYLE_PLAIN, "%s",
                  Number_grouped(number, group->count));
        if (group->task_count && group->task_count < group->count)
            Strip_add(&strip, STYLE_FAINT, ", the oldest %zu",
                      group->task_count);
    }
    Header_add_filter(&strip, &ui->model, 12);
    Ui_draw_title(ui, &strip);
}

static const char *why_none(const struct ShownRows *shown)
{
    const struct Ui *ui = shown->ui;
    const struct TaskGroup *group = shown->of;
    if (!group)
        return ui->tasks_by_place ? "No task was created there."
                                  : "This coroutine has no tasks now.";
    return Feed_is_replay(ui->feed) ? "The recording has no single tasks here."
                                    : "The tasks are being read.";
}

static int list_height(const struct ShownRows *shown, int body)
{
    return shown->list.count ? List_half(&shown->list, body) : body;
}

static void draw_below(struct Ui *ui, const struct ShownRows *shown,
                       const void *row, struct Box box, int height)
{
    const struct TaskRow *task = row;
    const struct TaskChainView chain = {task->name, task->chain,
                                        task->chain_count};
    (void)shown;
    TaskMarks_draw_chain(ui, &chain, box, height - 1);
}

static void want(struct Ui *ui)
{
    if (!Feed_is_replay(ui->feed))
        Feed_ask(ui->feed, MESSAGE_TASK_GROUP, ui->task_group);
}

static bool is_reading(const struct Ui *ui)
{
    const struct TaskGroup *group = group_of(ui);
    return group && !group->task_count && !Feed_is_replay(ui->feed);
}

static uint64_t function_of(const struct ShownRows *shown, const void *row)
{
    (void)row;
    return ((const struct TaskGroup *)shown->of)->id;
}

static const struct ShownKind SINGLES = {.list = {.columns = COLUMNS_OF_TASKS,
                                                  .column_count = TASK_COLUMNS,
                                                  .sorts = true,
                                                  .key = key_of,
                                                  .has = has_text,
                                                  .write = write_cell},
                                         .text = text_of,
                                         .number = number_of,
                                         .second = TASK_NAME,
                                         .fill = fill,
                                         .draw_title = draw_title,
                                         .why_none = why_none,
                                         .function = function_of,
                                         .height = list_height,
                                         .draw_below = draw_below};

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
                                     .is_reading = is_reading,
                                     .press = ShownRows_press,
                                     SHOWN_VIEW(SINGLES)};
