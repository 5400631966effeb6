// SPDX-License-Identifier: MIT
#include "tracer/session/task_groups.h"
#include "ipc/base/heap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Seconds over which the growth of a group of tasks is computed.
#define GROWTH_S 60.0
#define GROWTH_LEAST_S 5.0
// To compute the growth, walks over the tasks are kept that have at least this
// distance in seconds.
#define POINTS_S 4.0
// Smallest number of seconds between two structs TaskBirth that are kept.
#define BIRTHS_S 1.0
// If a group of tasks has not grown for QUIET_S seconds, it counts as no longer
// growing.
#define QUIET_S 60.0
// A group of tasks counts as growing only if it has grown at least this number
// of times.
#define RISES 3
// Smallest number of seconds over which steps per second are computed.
#define STEPS_S 1.0

// --- A walk ----------------------------------------------------------------

static void drop_group(struct CountedTasks *group)
{
    TaskList_release(&group->oldest);
    TaskLine_drop(&group->coroutine);
    for (unsigned i = 0; i < TASK_WAITS; i++)
        TaskLine_drop(&group->waits[i].at);
    memset(group, 0, sizeof *group);
}

void TaskGroups_release(struct TaskGroups *groups)
{
    for (unsigned i = 0; i < groups->count; i++)
        drop_group(&groups->all[i]);
    Heap_free(groups->all);
    TaskLines_release(&groups->lines);
    *groups = (struct TaskGroups){.all = NULL};
}

bool TaskGroups_begin(struct TaskGroups *groups, double now_s)
{
    if (!groups->all)
        groups->all = Heap_zeroed(2 * TASK_GROUPS, sizeof *groups->all);
    if (!groups->all)
        return false;
    groups->begun_s = now_s;
    groups->found = 0;
    TaskLines_clear(&groups->lines);
    for (unsigned i = 0; i < groups->count; i++) {
        struct CountedTasks *group = &groups->all[i];

        group->found = 0;
        group->lowest = UINT64_MAX;
        group->oldest.count = 0;
        for (unsigned j = 0; j < TASK_WAITS; j++)
            group->waits[j].found = 0;
    }
    return true;
}

void TaskGroups_interrupt(struct TaskGroups *groups)
{
    groups->interrupted = true;
}

struct CountedTasks *TaskGroups_find(struct TaskGroups *groups,
                                     const struct TaskLine *coroutine)
{
    struct CountedTasks *group, *place = NULL;
    uint64_t hash = TaskLine_hash(coroutine);
    unsigned i, same = 0;

    for (i = 0; i < groups->count; i++) {
        group = &groups->all[i];
        if (!group->coroutine.name)
            place = group;
        else if (group->hash == hash &&
                 TaskLine_is_same(&group->coroutine, coroutine))
            return group;
        else
            same += group->coroutine.place == coroutine->place;
    }
    if (same == TASK_GROUPS)
        return NULL;
    if (!place && groups->count < 2 * TASK_GROUPS)
        place = &groups->all[groups->count++];
    if (!place || !TaskLine_copy(&place->coroutine, coroutine))
        return NULL;
    place->hash = hash;
    place->lowest = UINT64_MAX;
    place->steps_per_s = NULL_F64;
    // The last whole walk over the tasks found no task of this group, so its
    // number was 0 then.
    if (groups->last_s > 0)
        place->points[place->point_count++] =
            (struct TaskPoint){groups->last_s, 0};
    return place;
}

struct TaskWait *TaskGroups_wait(struct CountedTasks *group,
                                 const struct TaskLine *at)
{
    struct TaskWait *place = NULL;
    uint64_t hash = TaskLine_hash(at);

    for (unsigned i = 0; i < TASK_WAITS; i++) {
        struct TaskWait *wait = &group->waits[i];

        if (wait->at.name && wait->hash == hash &&
            TaskLine_is_same(&wait->at, at))
            return wait;
        if (!wait->found && (!place || place->at.name))
            place = wait;
    }
    if (!place)
        return NULL;
    TaskLine_drop(&place->at);
    place->hash = hash;
    return TaskLine_copy(&place->at, at) ? place : NULL;
}

void TaskGroups_add_to_place(struct CountedTasks *place, struct TaskWait *wait,
                             uint64_t number)
{
    if (wait)
        wait->found++;
    if (!place)
        return;
    place->found++;
    if (number && number < place->lowest)
        place->lowest = number;
}

void TaskGroups_add(struct TaskGroups *groups, struct CountedTasks *group,
                    struct TaskWait *wait, uint64_t number)
{
    groups->found++;
    TaskGroups_add_to_place(group, wait, number);
}

uint64_t CountedTasks_key(const struct CountedTasks *group)
{
    const struct TaskLine *line = &group->coroutine;
    const struct TaskGroup row = {.coroutine = line->name,
                                  .file = line->file,
                                  .line = line->line ? line->line : NULL_U64};

    return TaskGroup_key(&row);
}

void CountedTasks_note_steps(struct CountedTasks *group, uint64_t steps,
                             double now_s)
{
    double s = now_s - group->steps_at_s;

    if (steps == UINT64_MAX || steps < group->steps || group->steps_at_s == 0) {
        group->steps_per_s = NULL_F64;
        group->steps_at_s = steps == UINT64_MAX ? 0 : now_s;
        group->steps = steps;
    } else if (s >= STEPS_S) {
        group->steps_per_s = (double)(steps - group->steps) / s;
        group->steps_at_s = now_s;
        group->steps = steps;
    }
}

// --- Ages ------------------------------------------------------------------

// Returns true if the walk over the tasks that runs now is the first one, or
// the first one for a while.
static bool is_first_look(const struct TaskGroups *groups)
{
    return groups->last_s == 0 || groups->interrupted;
}

// Removes the struct TaskBirth without which the ages of the tasks change
// least, in proportion.
static void forget_birth(struct TaskGroups *groups, double now_s)
{
    struct TaskBirth *births = groups->births;
    unsigned forgotten = 1;
    double least = INFINITY;

    for (unsigned i = 1; i + 1 < groups->birth_count; i++) {
        double change = (births[i + 1].at_s - births[i - 1].at_s) /
                        fmax(now_s - births[i + 1].at_s, BIRTHS_S);

        if (change < least) {
            least = change;
            forgotten = i;
        }
    }
    births[forgotten + 1].least |= births[forgotten].least;
    groups->birth_count--;
    memmove(&births[forgotten], &births[forgotten + 1],
            (groups->birth_count - forgotten) * sizeof *births);
}

void TaskGroups_note_birth(struct TaskGroups *groups, uint64_t number,
                           double now_s)
{
    const struct TaskBirth birth = {number, now_s, is_first_look(groups)};
    struct TaskBirth *newest = &groups->births[groups->birth_count];

    if (groups->birth_count && number <= newest[-1].number)
        return;
    if (groups->birth_count >= 2 && newest[-1].least == birth.least &&
        newest[-1].at_s - newest[-2].at_s < BIRTHS_S) {
        newest[-1] = birth;
        return;
    }
    if (groups->birth_count == TASK_BIRTHS)
        forget_birth(groups, now_s);
    groups->births[groups->birth_count++] = birth;
}

// Returns the first struct TaskBirth that shows the age of the task with this
// number, or NULL.
static const struct TaskBirth *birth_of(const struct TaskGroups *groups,
                                        uint64_t number)
{
    for (unsigned i = 0; i < groups->birth_count; i++)
        if (number <= groups->births[i].number)
            return &groups->births[i];
    return NULL;
}

// --- Growth ----------------------------------------------------------------

static void add_point(struct CountedTasks *group, struct TaskPoint point)
{
    struct TaskPoint *points = group->points;
    unsigned gone = 0;

    // The oldest walk over the tasks that is kept may be older than GROWTH_S
    // seconds.
    while (gone + 1 < group->point_count &&
           point.at_s - points[gone + 1].at_s >= GROWTH_S)
        gone++;
    if (!gone && group->point_count == TASK_POINTS)
        gone = 1;
    group->point_count -= gone;
    memmove(points, points + gone, group->point_count * sizeof *points);
    if (!group->point_count ||
        point.at_s - points[group->point_count - 1].at_s >= POINTS_S)
        points[group->point_count++] = point;
}

// Called when a walk over the tasks ends, stores its number of tasks in a
// group. `first` is true for the first walk.
static void end_group(struct CountedTasks *group, double at_s, bool first)
{
    struct TaskPoint point = {at_s, group->found};

    if (first || group->found < group->newest_count) {
        group->rises = 0;
    } else if (group->found > group->newest_count) {
        if (!group->rises++)
            group->first_rise_s = at_s;
        group->rose_s = at_s;
    }
    group->newest_count = group->found;
    add_point(group, point);
}

// Returns true if no kept walk over the tasks has found a task of the group.
static bool is_gone(const struct CountedTasks *group)
{
    for (unsigned i = 0; i < group->point_count; i++)
        if (group->points[i].count)
            return false;
    return !group->found;
}

void TaskGroups_end(struct TaskGroups *groups, double now_s)
{
    double at_s = (groups->begun_s + now_s) / 2;
    bool first = is_first_look(groups);

    for (unsigned i = 0; i < groups->count; i++) {
        struct CountedTasks *group = &groups->all[i];

        if (!group->coroutine.name)
            continue;
        end_group(group, at_s, first);
        if (is_gone(group))
            drop_group(group);
    }
    groups->last_s = at_s;
    groups->interrupted = false;
}

static double growth(const struct TaskGroups *groups,
                     const struct CountedTasks *group)
{
    const struct TaskPoint *first = group->points;
    double s = groups->last_s - first->at_s;

    if (!group->point_count || s < GROWTH_LEAST_S)
        return NULL_F64;
    return ((double)group->newest_count - (double)first->count) / s * 60;
}

static double growing_s(const struct TaskGroups *groups,
                        const struct CountedTasks *group)
{
    return group->rises >= RISES && groups->last_s - group->rose_s < QUIET_S
               ? group->rose_s - group->first_rise_s
               : NULL_F64;
}

// Returns true if, in the time over which the growth of a place is computed,
// some tasks were not counted there.
static bool lacks_tasks(const struct TaskGroups *groups,
                        const struct CountedTasks *group)
{
    return group->coroutine.place && groups->missed_s > 0 &&
           groups->last_s - groups->missed_s < GROWTH_S;
}

// --- The table -------------------------------------------------------------

static void fill_wait(struct Arena *arena, struct TaskGroup *row,
                      const struct CountedTasks *group)
{
    const struct TaskWait *most = group->waits;

    for (unsigned i = 1; i < TASK_WAITS; i++)
        if (group->waits[i].found > most->found)
            most = &group->waits[i];
    row->wait_line = row->wait_count = NULL_U64;
    if (!most->found)
        return;
    row->waits_in = Arena_text(arena, most->at.name);
    row->wait_file = Arena_text(arena, most->at.file);
    row->wait_count = most->found;
    if (most->at.line)
        row->wait_line = most->at.line;
}

// Fills in the row of a single task, and appends its await chain to the table.
static void fill_task(const struct TaskGroups *groups, struct TaskTable *table,
                      const struct ListedTask *task, double now_s)
{
    const struct TaskBirth *birth = birth_of(groups, task->number);
    struct TaskRow *row = &table->tasks[table->task_count];

    *row = (struct TaskRow){
        .name = Arena_text(&table->arena, task->name),
        .state = task->state,
        .age_s = birth ? now_s - birth->at_s : NULL_F64,
        .age_is_least = birth && birth->least,
        .chain_count = task->count,
        .steps = task->steps,
        .cpu_share = task->cpu_share,
    };
    if (*task->waits_for)
        row->waits_for = Arena_text(&table->arena, task->waits_for);
    if (*task->awaited_by)
        row->awaited_by = Arena_text(&table->arena, task->awaited_by);
    table->begins[table->task_count++] = table->link_count;
    memcpy(table->links + table->link_count, task->chain,
           task->count * sizeof *task->chain);
    table->link_count += task->count;
}

// Fills in the rows of the oldest tasks of a group.
static void fill_tasks(const struct TaskGroups *groups, struct TaskTable *table,
                       struct CountedTasks *group, double now_s)
{
    struct TaskGroup *row = &table->groups[table->count - 1];

    TaskList_sort(&group->oldest);
    row->tasks = &table->tasks[table->task_count];
    row->task_count = group->oldest.count;
    for (unsigned i = 0; i < group->oldest.count; i++)
        fill_task(groups, table, &group->oldest.all[i], now_s);
}

// Fills in the row of a group of tasks.
static void fill_group(const struct TaskGroups *groups, struct TaskTable *table,
                       struct CountedTasks *group, double now_s)
{
    struct TaskGroup *row = &table->groups[table->count];
    const struct TaskBirth *birth = birth_of(groups, group->lowest);

    table->count++;
    *row = (struct TaskGroup){
        .coroutine = Arena_text(&table->arena, group->coroutine.name),
        .file = Arena_text(&table->arena, group->coroutine.file),
        .line = group->coroutine.line ? group->coroutine.line : NULL_U64,
        .count = group->found,
        .growth_per_min = NULL_F64,
        .growing_s = NULL_F64,
        .oldest_s = birth ? now_s - birth->at_s : NULL_F64,
        .oldest_is_least = birth && birth->least,
        .id = group->coroutine.function ? group->coroutine.function : NULL_U64,
        .cpu_share = NULL_F64,
        .steps_per_s = group->steps_per_s,
        .count_is_least = lacks_tasks(groups, group),
    };
    if (table->total != NULL_U64 && !row->count_is_least) {
        row->growth_per_min = growth(groups, group);
        row->growing_s = growing_s(groups, group);
    }
    fill_wait(&table->arena, row, group);
    fill_tasks(groups, table, group, now_s);
}

// Orders the larger group first.
static int compare(const void *left, const void *right)
{
    const struct TaskGroup *one = left, *other = right;

    return one->count < other->count ? 1 : -(one->count > other->count);
}

// Fills in the rows of all places, or of all coroutine functions.
static void fill(struct TaskGroups *groups, struct TaskTable *table,
                 bool places, double now_s)
{
    size_t first = table->count;

    for (unsigned i = 0; i < groups->count; i++) {
        struct CountedTasks *group = &groups->all[i];

        if (group->coroutine.name && group->found &&
            group->coroutine.place == places)
            fill_group(groups, table, group, now_s);
    }
    qsort(table->groups + first, table->count - first, sizeof *table->groups,
          compare);
}

// Allocates the table's arrays, and fills in its lines of code. Returns false
// if there is no memory for an array.
static bool prepare(struct TaskTable *table, const struct TaskGroups *groups)
{
    struct Arena *arena = &table->arena;
    size_t tasks = 1, links = 1;

    for (unsigned i = 0; i < groups->count; i++) {
        const struct TaskList *list = &groups->all[i].oldest;

        tasks += list->count;
        for (unsigned j = 0; j < list->count; j++)
            links += list->all[j].count;
    }
    table->groups =
        Arena_alloc(arena, (groups->count + 1) * sizeof *table->groups);
    table->tasks = Arena_alloc(arena, tasks * sizeof *table->tasks);
    table->begins = Arena_alloc(arena, tasks * sizeof *table->begins);
    table->links = Arena_alloc(arena, links * sizeof *table->links);
    table->lines =
        Arena_alloc(arena, (groups->lines.count + 1) * sizeof *table->lines);
    if (arena->failed)
        return false;
    for (uint32_t i = 0; i < groups->lines.count; i++) {
        const struct TaskLine *line = &groups->lines.all[i];
        struct StackPlace *place = &table->lines[i];

        *place = (struct StackPlace){
            .id = line->function ? line->function : NULL_U64,
            .name = Arena_text(arena, line->name),
            .file = Arena_text(arena, line->file),
            .line = line->line ? line->line : NULL_U64,
        };
    }
    table->line_count = groups->lines.count;
    return true;
}

struct TaskTable *TaskGroups_table(struct TaskGroups *groups, bool whole,
                                   double now_s)
{
    struct TaskTable *table = Heap_zeroed(1, sizeof *table);

    if (!table)
        return NULL;
    if (prepare(table, groups)) {
        table->total = whole ? groups->found : NULL_U64;
        fill(groups, table, false, now_s);
        table->coroutine_count = table->count;
        fill(groups, table, true, now_s);
    }
    if (!table->arena.failed)
        return table;
    TaskTable_free(table);
    return NULL;
}
