// SPDX-License-Identifier: MIT
#include "python/hooks/task_numbers.h"
#include "ipc/base/heap.h"

#include <stdbool.h>

#define NUMBER_MOST ((1u << 28) - 1) // marks have 28 bits for a task's number
#define ROOM_LEAST 64u
// If more tasks than TASKS_MOST are alive, the table forgets all tasks.
#define TASKS_MOST (1u << 20)

// Returns true if the task of this entry is alive.
static bool is_alive(const struct NumberedTask *entry)
{
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *task = NULL;
    int found = PyWeakref_GetRef(entry->reference, &task);

    Py_XDECREF(task);
    return found > 0;
#else
    return PyWeakref_GET_OBJECT(entry->reference) != Py_None;
#endif
}

// Returns the task's entry, or the free entry that a new task is to take.
static struct NumberedTask *place_of(const struct TaskNumbers *numbers,
                                     const PyObject *task)
{
    size_t place =
        (size_t)((uintptr_t)task * UINT64_C(0x9e3779b97f4a7c15) >> 32);

    for (;; place++) {
        struct NumberedTask *entry = &numbers->all[place & (numbers->room - 1)];

        if (!entry->task || entry->task == task)
            return entry;
    }
}

void TaskNumbers_clear(struct TaskNumbers *numbers)
{
    size_t i;

    for (i = 0; i < numbers->room; i++)
        Py_XDECREF(numbers->all[i].reference);
    Heap_free(numbers->all);
    numbers->all = NULL;
    numbers->room = numbers->used = 0;
}

// Drops freed tasks, and makes the table large enough for twice the number of
// living tasks. Returns false if memory for the table is out.
static bool make_room(struct TaskNumbers *numbers)
{
    struct TaskNumbers old = *numbers;
    size_t alive = 0, room = ROOM_LEAST, i;

    for (i = 0; i < old.room; i++)
        alive += old.all[i].task && is_alive(&old.all[i]);
    if (alive > TASKS_MOST) {
        TaskNumbers_clear(numbers);
        old = *numbers;
        alive = 0;
    }
    while (room < 4 * alive)
        room *= 2;
    numbers->all = Heap_zeroed(room, sizeof *numbers->all);
    if (!numbers->all) {
        *numbers = old;
        return false;
    }
    numbers->room = room;
    numbers->used = alive;
    for (i = 0; i < old.room; i++)
        if (old.all[i].task && is_alive(&old.all[i]))
            *place_of(numbers, old.all[i].task) = old.all[i];
        else
            Py_XDECREF(old.all[i].reference);
    Heap_free(old.all);
    return true;
}

uint32_t TaskNumbers_of(struct TaskNumbers *numbers, PyObject *task)
{
    struct NumberedTask *entry;
    PyObject *reference;

    if (2 * numbers->used >= numbers->room && !make_room(numbers))
        return 0;
    entry = place_of(numbers, task);
    if (entry->task && is_alive(entry))
        return entry->number;
    reference = PyWeakref_NewRef(task, NULL);
    if (!reference) {
        PyErr_Clear();
        return 0;
    }
    numbers->used += !entry->task;
    // entry->reference may refer to a freed task that had the same address.
    Py_XDECREF(entry->reference);
    numbers->newest = numbers->newest % NUMBER_MOST + 1;
    *entry = (struct NumberedTask){task, reference, numbers->newest};
    return entry->number;
}
