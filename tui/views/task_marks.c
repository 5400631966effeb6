// SPDX-License-Identifier: MIT
// See task_marks.h.
#include "tui/views/task_marks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A group of tasks that only grows for LEAK_S seconds may be a leak.
#define LEAK_S 60.0

// A task can be a second or two old before its age begins to be counted, so an
// age below YOUNG_S seconds is a lower bound.
#define YOUNG_S 2.0

const struct TaskGroup *TaskMarks_groups(const struct Ui *ui, size_t *count)
{
    const struct Snapshot *now = ui->model.snapshot;
    *count = !now                 ? 0
             : ui->tasks_by_place ? now->tasks_place_count
                                  : now->tasks_group_count;
    return !now                 ? NULL
           : ui->tasks_by_place ? now->tasks_places
                                : now->tasks_groups;
}

static bool is_place(const struct Snapshot *now, const struct TaskGroup *group)
{
    return now && now->tasks_place_count && group >= now->tasks_places &&
           group < now->tasks_places + now->tasks_place_count;
}

bool TaskMarks_is_leak(const struct TaskGroup *group)
{
    return group->growing_s >= LEAK_S;
}

bool TaskMarks_is_long(const struct Model *model, const struct TaskGroup *group,
                       double age_s)
{
    const struct Row *row =
        group->id == NULL_U64 || is_place(model->snapshot, group)
            ? NULL
            : Model_row_of(model, group->id);
    return row && row->now && age_s > HANG_S &&
           Row_u64(row->now->calls) - (double)group->count >= HANG_ENDED &&
           age_s > HANG_TIMES * row->now->wall_p50_s;
}

// Returns true if a stack contains a function. In the text of the stack, ';'
// stands between two functions.
static bool stack_has(const char *stack, const char *function)
{
    size_t size = strlen(function);
    for (; stack; stack = strchr(stack, ';')) {
        stack += *stack == ';';
        if (strncmp(stack, function, size) == 0 &&
            (!stack[size] || stack[size] == ';'))
            return true;
    }
    return false;
}

double TaskMarks_step_s(const struct Snapshot *now,
                        const struct TaskGroup *group, const char *task)
{
    double step_s = NAN;
    for (size_t i = 0; i < now->stall_count; i++) {
        const struct StallRow *stall = &now->stalls[i];
        bool same = task ? stall->task && strcmp(stall->task, task) == 0
                         : stall->task && group->coroutine &&
                               !is_place(now, group) &&
                               stack_has(stall->stack, group->coroutine);
        if (same)
            step_s = fmax(step_s, stall->seconds);
    }
    return step_s;
}

void TaskMarks_write_age(struct ListCell *cell, double age_s, bool least,
                         bool is_long)
{
    char age[sizeof cell->text];
    ListCell_seconds(cell, age_s);
    if (*cell->text && (least || age_s < YOUNG_S)) {
        snprintf(age, sizeof age, ">%.32s", cell->text);
        ListCell_put(cell, cell->style, age);
    }
    if (is_long)
        cell->style = STYLE_ALERT;
}

void TaskMarks_write_step(struct ListCell *cell, double step_s)
{
    ListCell_seconds(cell, step_s);
    if (*cell->text)
        cell->style = STYLE_ALERT;
}

// --- An await chain

static void write_place(struct ListCell *cell, const struct ListRows *rows,
                        long row, int column)
{
    const struct TaskChainView *chain = rows->source;
    const struct StackPlace *place = &chain->places[row];
    if (column)
        ListCell_place(cell, STYLE_FAINT, place->file, place->line);
    else
        ListCell_place(cell, STYLE_PLAIN, place->name, NULL_U64);
}

void TaskMarks_draw_chain(struct Ui *ui, const struct TaskChainView *chain,
                          struct Box box, int height)
{
    char title[160];
    struct List list = {.unmarked = true};
    const struct ListColumn columns[] = {
        LIST_COLUMN(title, 24, 3, .grows = 50, .left = true, .cut = CUT_START),
        LIST_COLUMN("AT", 16, 2, .grows = 50, .left = true, .path = true),
    };
    const struct ListRows rows = {.source = chain,
                                  .count = (long)chain->count,
                                  .columns = columns,
                                  .column_count = 2,
                                  .write = write_place};
    snprintf(title, sizeof title, "AWAITED BY %.120s",
             chain->task ? chain->task : "?");
    List_draw(&list, &rows, &ui->canvas, box, height);
}
