// SPDX-License-Identifier: MIT
// See task_cursor.h. In the sets of CPython 3.12 and 3.13, a walk goes through
// a set's table by the index. If the size of the table changes, the cursor has
// lost its place. If the table moves in memory, or a task gets another entry,
// the walk may return a few tasks twice or not at all.
//
// In a list of CPython 3.14 and newer, the newest task is at the end. A task
// that has ended is in no list. If a thread ends, its tasks move to another
// list of the interpreter. With the GIL held, the lists do not change. Between
// two slices the cursor has weak references to some tasks that it has passed,
// which are called anchors. In the next slice the cursor goes on behind the
// newest anchor that is still in the list. asyncio numbers its tasks in the
// order in which they begin. By these numbers the cursor skips tasks that it
// has returned before, if it has gone back.
#include "python/service/task_cursor.h"
#include "python/hooks/await_chain.h"
#include "python/hooks/callees.h"
#include "tracer/sample/memory.h"

#include <errno.h>
#include <string.h>

// --- The sets --------------------------------------------------------------

// A batch has tasks of at most EMPTY entries of a set.
#define EMPTY 1024

enum { SCHEDULED, EAGER, SETS };

// Returns a set of tasks, or of weak references to tasks, as a borrowed
// reference. Returns NULL if the program has not imported asyncio.
static PySetObject *set_of(const struct State *state, unsigned which)
{
    // The tasks in their first step have a set of their own.
    PyObject *set = Callees_in_module(
        "asyncio.tasks", which == EAGER ? "_eager_tasks" : "_scheduled_tasks");

    if (set && which == SCHEDULED)
        set = Callees_in_instance(set, state->names[TASK_DATA]);
    return set && PySet_CheckExact(set) ? (PySetObject *)set : NULL;
}

// Returns the task of an entry as a borrowed reference, or NULL. Nothing frees
// the task while the GIL is held.
static PyObject *task_at(PyObject *key, unsigned which)
{
    PyObject *task = key;

    if (which == SCHEDULED)
        task = PyWeakref_CheckRefExact(key)
                   ? ((const PyWeakReference *)key)->wr_object
                   : Py_None;
    return task != Py_None ? task : NULL;
}

// Goes to the beginning of a set.
static void go_to(struct TaskSetCursor *cursor, unsigned which)
{
    cursor->which = which;
    cursor->set = NULL;
    cursor->index = 0;
    cursor->mask = -1;
    cursor->ended = which == SETS;
}

static int open_set(struct TaskSetCursor *cursor, const struct State *state)
{
    Py_ssize_t mask = cursor->mask;

    if (cursor->ended)
        return 0;
    cursor->set = set_of(state, cursor->which);
    if (cursor->set)
        cursor->mask = cursor->set->mask;
    return mask < 0 || mask == cursor->mask ? 0 : -ESTALE;
}

// Collects the keys of the next tasks of the set.
static unsigned collect(struct TaskSetCursor *cursor,
                        PyObject *keys[TASK_BATCH])
{
    const PySetObject *set = cursor->set;
    Py_ssize_t most = cursor->index + EMPTY; // many entries may be free
    unsigned count = 0;

    for (; cursor->index <= set->mask && cursor->index < most;
         cursor->index++) {
        const setentry *entry = &set->table[cursor->index];

        if (!entry->key || entry->hash == -1)
            continue;
        if (count == TASK_BATCH)
            break;
        __builtin_prefetch(entry->key);
        cursor->at[count] = cursor->index;
        keys[count++] = entry->key;
    }
    return count;
}

static unsigned next_of_sets(struct TaskSetCursor *cursor,
                             const struct State *state,
                             PyObject *tasks[TASK_BATCH])
{
    unsigned count = 0;

    if (cursor->set)
        count = collect(cursor, tasks);
    for (unsigned i = 0; i < count; i++)
        tasks[i] = task_at(tasks[i], cursor->which);
    if (!count && (!cursor->set || cursor->index > cursor->set->mask)) {
        go_to(cursor, cursor->which + 1);
        open_set(cursor, state);
    }
    return count;
}

#if PY_VERSION_HEX < 0x030E0000

void TaskCursor_begin(struct TaskCursor *cursor)
{
    cursor->ended = false;
    go_to(&cursor->sets, SCHEDULED);
}

int TaskCursor_open(struct TaskCursor *cursor, const struct State *state)
{
    return open_set(&cursor->sets, state);
}

unsigned TaskCursor_next(struct TaskCursor *cursor, const struct State *state,
                         PyObject *tasks[TASK_BATCH])
{
    unsigned count = next_of_sets(&cursor->sets, state, tasks);

    cursor->ended = cursor->sets.ended;
    return count;
}

void TaskCursor_return(struct TaskCursor *cursor, unsigned index)
{
    cursor->sets.index = cursor->sets.at[index];
}

void TaskCursor_close(struct TaskCursor *cursor)
{
    cursor->sets.set = NULL;
}

void TaskCursor_drop(struct TaskCursor *cursor)
{
    TaskCursor_begin(cursor);
}

#else

// TaskCursor_next passes up to LOOKS tasks.
#define LOOKS 64

// In one list the cursor may go back at most BACK times.
#define BACK 32

// The cursor searches the newest NEWEST tasks of a list for asyncio's newest
// number.
#define NEWEST 16

// The words of the table that asyncio's C module has for debuggers
// (Py_AsyncioModuleDebugOffsets). The table is the same in 3.14 and 3.15.
enum {
    TASK_SIZE,
    TASK_NAME_AT,
    TASK_AWAITED_BY_AT,
    TASK_NODE_AT = 6,
    INTERPRETER_SIZE,
    INTERPRETER_LIST,
    THREAD_SIZE,
    THREAD_LIST = 12,
    TABLE_WORDS
};

// --- The layout ------------------------------------------------------------

// Returns true if the table is plausible. `task_size` is the size of a task.
static bool is_plausible(const uint64_t *table, Py_ssize_t task_size)
{
    if ((uintptr_t)table % sizeof *table ||
        !Memory_is_readable((uintptr_t)table) ||
        !Memory_is_readable((uintptr_t)(table + TABLE_WORDS) - 1))
        return false;
    return table[TASK_SIZE] == (uint64_t)task_size &&
           table[TASK_NODE_AT] + sizeof(struct TaskNode) == table[TASK_SIZE] &&
           table[TASK_NAME_AT] < table[TASK_NODE_AT] &&
           table[TASK_AWAITED_BY_AT] < table[TASK_NAME_AT] &&
           table[TASK_AWAITED_BY_AT] >= sizeof(PyObject) &&
           table[TASK_AWAITED_BY_AT] % sizeof(PyObject *) == 0 &&
           table[INTERPRETER_LIST] < table[INTERPRETER_SIZE] &&
           table[THREAD_LIST] < table[THREAD_SIZE];
}

// Finds the layout of tasks and lists. The last word in the state of asyncio's
// C module is the table's address. Returns 0, or -ENOENT if the program has not
// imported asyncio, or -ENOTSUP if the layout is unknown.
static int find_layout(struct TaskLayout *layout)
{
    PyObject *class = Callees_in_module("_asyncio", "Task"), *module = NULL;
    const PyModuleDef *definition;
    const uint64_t *const *words, *table;

    if (!class)
        return -ENOENT;
    if (PyType_Check(class))
        module = PyType_GetModule((PyTypeObject *)class); // borrowed
    PyErr_Clear();
    definition = module ? PyModule_GetDef(module) : NULL;
    words = module ? PyModule_GetState(module) : NULL;
    if (!definition || !words || definition->m_size < (Py_ssize_t)sizeof *words)
        return -ENOTSUP;
    table = words[(size_t)definition->m_size / sizeof *words - 1];
    if (!is_plausible(table, ((PyTypeObject *)class)->tp_basicsize))
        return -ENOTSUP;
    *layout = (struct TaskLayout){
        .name = table[TASK_NAME_AT],
        .node = table[TASK_NODE_AT],
        .awaited_by = table[TASK_AWAITED_BY_AT],
        .interpreter = table[INTERPRETER_LIST],
        .thread = table[THREAD_LIST],
    };
    return 0;
}

static struct TaskNode *node_of(const struct TaskCursor *cursor, PyObject *task)
{
    return (struct TaskNode *)((char *)task + cursor->layout.node);
}

static PyObject *task_of(const struct TaskCursor *cursor, struct TaskNode *node)
{
    return (PyObject *)((char *)node - cursor->layout.node);
}

// Returns the number that asyncio has given to the task, or 0.
static uint64_t number_of(const struct TaskCursor *cursor,
                          const struct TaskNode *node)
{
    const char *task = (const char *)node - cursor->layout.node;
    const struct AwaitTask read = {
        .name = *(PyObject *const *)(task + cursor->layout.name)};

    return AwaitTask_is_numbered(&read) ? AwaitTask_number(&read) : 0;
}

// --- The lists -------------------------------------------------------------

// Returns a thread's list. `thread` is NULL for the list of ended threads'
// tasks.
static struct TaskNode *list_of(const struct TaskCursor *cursor,
                                PyThreadState *thread)
{
    return thread ? (struct TaskNode *)((char *)thread + cursor->layout.thread)
                  : cursor->of_ended;
}

// While a thread ends, its tasks can already be in the list of ended threads'
// tasks, so the end of this list counts, too.
static bool is_end(const struct TaskCursor *cursor, const struct TaskNode *node)
{
    return node == cursor->head || node == cursor->of_ended;
}

static void drop_anchors(struct TaskCursor *cursor)
{
    for (unsigned i = 0; i < TASK_ANCHORS; i++) {
        Py_CLEAR(cursor->anchors[i].ref);
        cursor->anchors[i].task = NULL;
    }
    cursor->batches = 0;
}

// Goes to the beginning of a list.
static void enter(struct TaskCursor *cursor, PyThreadState *thread)
{
    const struct TaskNode *node;

    drop_anchors(cursor);
    cursor->thread = thread;
    cursor->id = thread ? thread->id : 0;
    cursor->head = list_of(cursor, thread);
    cursor->next = cursor->head->next;
    cursor->last = cursor->head->prev;
    cursor->last_number = cursor->number = 0;
    cursor->passed = cursor->farthest = 0;
    cursor->went_back = 0;
    node = cursor->head->prev;
    // In the list of ended threads' tasks the numbers are in no order.
    for (int i = 0; thread && i < NEWEST && node != cursor->head; i++) {
        if ((cursor->last_number = number_of(cursor, node)))
            break;
        node = node->prev;
    }
}

// Goes to the beginning of the next list, or ends.
static void go_to_next_list(struct TaskCursor *cursor)
{
    if (cursor->thread)
        enter(cursor, PyThreadState_Next(cursor->thread));
    else
        cursor->lists_ended = true;
}

// --- The anchors -----------------------------------------------------------

// Makes the task before the cursor an anchor. TaskCursor_next chooses the slots
// so that the distances from the cursor to the anchors become powers of 2, in
// batches.
static void drop_anchor(struct TaskCursor *cursor, unsigned slot)
{
    struct TaskNode *node = cursor->next->prev;
    PyObject *task = task_of(cursor, node);

    if (is_end(cursor, node) || Py_REFCNT(task) <= 0)
        return;
    cursor->anchors[slot].task = task;
    cursor->anchors[slot].place = cursor->passed;
}

// Returns the node of an anchor, or NULL if its task is in no list any more.
static struct TaskNode *anchor_node(const struct TaskCursor *cursor,
                                    const struct TaskAnchor *anchor)
{
    PyObject *task =
        anchor->ref ? ((PyWeakReference *)anchor->ref)->wr_object : Py_None;

    if (task == Py_None || Py_REFCNT(task) <= 0 || !node_of(cursor, task)->next)
        return NULL;
    return node_of(cursor, task);
}

// Goes back to the place in the list at which the last slice has ended, or to a
// place before it. Returns 0, or -ESTALE if that is not possible.
static int find_place(struct TaskCursor *cursor, PyThreadState *thread)
{
    const struct TaskAnchor *anchor = cursor->anchors, *newest = NULL;

    cursor->thread = thread;
    cursor->head = list_of(cursor, thread);
    cursor->next = cursor->head->next;
    if (!cursor->batches) // the cursor was at the beginning
        return 0;
    for (; anchor < cursor->anchors + TASK_ANCHORS; anchor++)
        if (anchor_node(cursor, anchor) &&
            (!newest || anchor->place > newest->place))
            newest = anchor;
    if (newest)
        cursor->next = anchor_node(cursor, newest)->next;
    if (newest == cursor->anchors)
        return 0;
    if (++cursor->went_back > BACK || !(newest || cursor->number)) {
        cursor->next = cursor->head; // the end
        return -ESTALE;
    }
    cursor->passed = newest ? newest->place : 0;
    return 0;
}

// --- The cursor ------------------------------------------------------------

void TaskCursor_begin(struct TaskCursor *cursor)
{
    TaskCursor_drop(cursor);
    cursor->ended = cursor->lists_ended = false;
    cursor->id = UINT64_MAX;
    go_to(&cursor->sets, SCHEDULED);
}

int TaskCursor_open(struct TaskCursor *cursor, const struct State *state)
{
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    PyThreadState *thread = PyInterpreterState_ThreadHead(interpreter);
    int error;

    if (cursor->lists_ended)
        return open_set(&cursor->sets, state);
    error = cursor->layout.node ? 0 : find_layout(&cursor->layout);

    if (error) {
        cursor->ended = error == -ENOENT; // then there are no tasks
        return cursor->ended ? 0 : error;
    }
    cursor->of_ended =
        (struct TaskNode *)((char *)interpreter + cursor->layout.interpreter);
    while (thread && thread->id > cursor->id)
        thread = PyThreadState_Next(thread);
    if ((thread ? thread->id : 0) == cursor->id)
        return find_place(cursor, thread);
    enter(cursor, thread);
    return 0;
}

// Passes a task of the list.
static void pass(struct TaskCursor *cursor, struct TaskNode *node)
{
    uint64_t number = cursor->thread ? number_of(cursor, node) : 0;

    if (cursor->last_number && number > cursor->last_number) {
        cursor->next = cursor->head;
        return;
    }
    // If the cursor has gone back, the tasks up to `farthest` have been
    // returned before, unless tasks before them have ended.
    if (cursor->passed++ >= cursor->farthest || number > cursor->number) {
        cursor->farthest = cursor->passed;
        cursor->batch[cursor->count++] = task_of(cursor, node);
    }
    if (number > cursor->number)
        cursor->number = number;
    cursor->next = node == cursor->last ? cursor->head : node->next;
}

unsigned TaskCursor_next(struct TaskCursor *cursor, const struct State *state,
                         PyObject *tasks[TASK_BATCH])
{
    cursor->count = 0;
    cursor->number_before = cursor->number;
    if (cursor->lists_ended) {
        cursor->count = next_of_sets(&cursor->sets, state, tasks);
        cursor->ended = cursor->sets.ended;
        return cursor->count;
    }
    if (is_end(cursor, cursor->next)) {
        go_to_next_list(cursor);
        if (cursor->lists_ended)
            open_set(&cursor->sets, state);
        return 0;
    }
    cursor->batches++;
    drop_anchor(cursor, 1 + (unsigned)__builtin_ctz(cursor->batches) %
                                (TASK_ANCHORS - 1));
    for (int i = 0; i < LOOKS && cursor->count < TASK_BATCH; i++) {
        if (is_end(cursor, cursor->next))
            break;
        pass(cursor, cursor->next);
    }
    memcpy(tasks, cursor->batch, cursor->count * sizeof *tasks);
    return cursor->count;
}

void TaskCursor_return(struct TaskCursor *cursor, unsigned index)
{
    if (cursor->lists_ended) {
        cursor->sets.index = cursor->sets.at[index];
        return;
    }
    cursor->next = node_of(cursor, cursor->batch[index]);
    cursor->passed -= cursor->count - index;
    cursor->farthest = cursor->passed;
    cursor->number = cursor->number_before;
    for (unsigned i = 0; cursor->thread && i < index; i++) {
        uint64_t number = number_of(cursor, node_of(cursor, cursor->batch[i]));

        if (number > cursor->number)
            cursor->number = number;
    }
}

PyObject *TaskCursor_awaited_by(const struct TaskCursor *cursor,
                                PyObject *future)
{
    return *(PyObject *const *)((char *)future + cursor->layout.awaited_by);
}

void TaskCursor_close(struct TaskCursor *cursor)
{
    cursor->sets.set = NULL;
    if (!cursor->ended && !cursor->lists_ended && is_end(cursor, cursor->next))
        go_to_next_list(cursor);
    if (cursor->ended || cursor->lists_ended) {
        drop_anchors(cursor);
        return;
    }
    Py_CLEAR(cursor->anchors[0].ref);
    drop_anchor(cursor, 0);
    for (unsigned i = 0; i < TASK_ANCHORS; i++) {
        PyObject *task = cursor->anchors[i].task;

        if (!task)
            continue;
        cursor->anchors[i].task = NULL;
        Py_XSETREF(cursor->anchors[i].ref, PyWeakref_NewRef(task, NULL));
    }
    PyErr_Clear(); // without an anchor the cursor goes back farther
}

void TaskCursor_drop(struct TaskCursor *cursor)
{
    drop_anchors(cursor);
}

#endif

bool TaskCursor_finds(const struct State *state)
{
    struct TaskCursor cursor = {0};
    PyObject *tasks[TASK_BATCH];
    bool found = false;

    TaskCursor_begin(&cursor);
    if (TaskCursor_open(&cursor, state) == -ENOTSUP)
        return false;
    while (!found && !cursor.ended) {
        unsigned count = TaskCursor_next(&cursor, state, tasks);

        while (count-- && !found)
            found = tasks[count] && Py_REFCNT(tasks[count]) > 0 &&
                    !Await_is_done(tasks[count]);
    }
    TaskCursor_close(&cursor);
    TaskCursor_drop(&cursor);
    return found;
}
