// SPDX-License-Identifier: MIT
#include "tracer/session/task_list.h"
#include "ipc/base/heap.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_ROOM 4u

static unsigned most(const struct TaskList *list)
{
    return list->shown ? TASK_SHOWN : TASK_LISTED;
}

static bool grow(struct TaskList *list)
{
    unsigned room = list->room ? 2 * list->room : LEAST_ROOM;
    struct ListedTask *all;

    if (room > most(list))
        room = most(list);
    all = Heap_resize(list->all, room * sizeof *all);
    if (!all)
        return false;
    list->all = all;
    list->room = room;
    return true;
}

static void find_newest(struct TaskList *list)
{
    list->newest = 0;
    for (unsigned i = 1; i < list->count; i++)
        if (list->all[i].number > list->all[list->newest].number)
            list->newest = i;
}

void TaskList_prepare(struct TaskList *list, bool shown)
{
    if (shown != list->shown)
        TaskList_release(list);
    list->count = 0;
    list->shown = shown;
    if (!shown || list->room)
        return;
    list->all = Heap_alloc(TASK_SHOWN * sizeof *list->all);
    if (!list->all)
        return;
    list->room = TASK_SHOWN;
    // The first write to memory takes long.
    memset(list->all, 0, TASK_SHOWN * sizeof *list->all);
}

struct ListedTask *TaskList_add(struct TaskList *list, uint64_t number)
{
    struct ListedTask *task;

    number = number ? number : UINT64_MAX;
    if (list->count == most(list)) {
        if (number >= list->all[list->newest].number)
            return NULL;
        task = &list->all[list->newest];
    } else {
        if (list->count == list->room && !grow(list))
            return NULL;
        task = &list->all[list->count++];
    }
    memset(task, 0, sizeof *task);
    task->number = number;
    if (list->count == most(list))
        find_newest(list);
    return task;
}

void ListedTask_add_line(struct ListedTask *task, uint32_t line)
{
    if (!line)
        return;
    if (task->count == TASK_CHAIN)
        task->count--;
    task->chain[task->count++] = line;
}

static int compare(const void *left, const void *right)
{
    const struct ListedTask *one = left, *other = right;

    return (one->number > other->number) - (one->number < other->number);
}

void TaskList_sort(struct TaskList *list)
{
    if (list->count)
        qsort(list->all, list->count, sizeof *list->all, compare);
    find_newest(list);
}

void TaskList_release(struct TaskList *list)
{
    Heap_free(list->all);
    *list = (struct TaskList){.all = NULL};
}
