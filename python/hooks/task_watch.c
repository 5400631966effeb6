// SPDX-License-Identifier: MIT
#include "python/hooks/task_watch.h"
#include "ipc/base/heap.h"
#include "ipc/own_file.h"
#include "python/hooks/adopt.h"
#include "python/hooks/callees.h"
#include "python/hooks/frame_stack.h"
#include "python/hooks/known_calls.h"
#include "python/hooks/tasks.h"
#include "python/hooks/thread_state.h"
#include "python/hooks/tools.h"

#include <limits.h>
#include <string.h>

// The table of tasks has SETS sets of WAYS entries. SETS is a power of 2.
#define SETS 2048u
#define WAYS 8u
#define GROUPS 256u // Largest number of groups whose steps are counted.
// Largest number of frames between the function that creates a task and the
// program's own code.
#define FRAMES 32

// The functions of asyncio that create tasks. If the loop is asyncio's own, all
// these functions call the last one.
static const struct {
    const char *module, *class, *function;
} CREATORS[] = {
    {"asyncio.tasks", NULL, "create_task"},
    {"asyncio.tasks", NULL, "ensure_future"},
    {"asyncio.taskgroups", "TaskGroup", "create_task"},
    {"asyncio.base_events", "BaseEventLoop", "create_task"},
};
#define CREATOR_COUNT (sizeof CREATORS / sizeof *CREATORS)
#define INNERMOST (CREATOR_COUNT - 1)

struct TaskWatch {
    bool active; // True if somebody asks for tasks.
    // EventLoops.switches when the newest walk began. If `gap` is true, not all
    // steps since the walk before were counted.
    uint64_t switches;
    bool gap;
    bool missed; // True if the table has lost tasks with a place since the last
                 // walk.
    // True if places have lost tasks that no walk had found yet. The tasks that
    // still live have higher numbers than `first`, and no place.
    bool evicted;
    uint64_t first; // Number of the first task whose place was noted, or 0.
    // The newest task that the innermost creator has returned, and its `check`,
    // or 0 if it had ended. `newest` is NULL if the function that called this
    // creator has returned, too.
    const PyObject *newest;
    uint64_t newest_check;
    PyObject *creators[CREATOR_COUNT]; // Code with our events, or NULL.
    struct TaskLines places;
    counter_t place_steps[TASK_PLACES];
    struct {
        uint32_t id;
        uint64_t steps;
    } groups[GROUPS]; // A hash table with open addressing.
    struct KnownTask tasks[SETS][WAYS];
    struct KnownCalls calls; // Its `walk` is the number of the newest walk.
};

// --- The table of tasks ------------------------------------------------------

static uint64_t check_of(const PyObject *task, const struct AwaitTask *read)
{
    uint64_t check = (uintptr_t)task * 0x9e3779b97f4a7c15u;

    check = (check ^ (uintptr_t)read->coroutine) * 0x9e3779b97f4a7c15u;
    check = (check ^ AwaitTask_number(read)) * 0x9e3779b97f4a7c15u;
    return check | 1;
}

static unsigned missed_by(const struct TaskWatch *watch,
                          const struct KnownTask *known)
{
    return (uint16_t)(watch->calls.walk - known->walk);
}

// Returns true if a walk has found the entry's task, and the task may be alive.
// A task that the walk before this one has found is alive, because the present
// walk may not have reached it yet.
static bool may_live(const struct TaskWatch *watch,
                     const struct KnownTask *known)
{
    return known->walks && missed_by(watch, known) < 2;
}

// Returns a number that is larger the longer the entry's task was not seen. A
// new task replaces the entry with the largest number. A task that only one
// walk has found is often a short one.
static unsigned idle_of(const struct TaskWatch *watch,
                        const struct KnownTask *known)
{
    if (!known->check)
        return UINT_MAX;
    if (may_live(watch, known))
        return known->walks < 2;
    return missed_by(watch, known) + 2;
}

static struct KnownTask *find(struct TaskWatch *watch, uint64_t check,
                              bool make)
{
    struct KnownTask *set = watch->tasks[(check >> 32) % SETS], *idlest = set;

    for (unsigned i = 0; i < WAYS; i++) {
        if (set[i].check == check)
            return &set[i];
        if (idle_of(watch, &set[i]) > idle_of(watch, idlest))
            idlest = &set[i];
    }
    if (!make)
        return NULL;
    watch->missed |= idlest->place && may_live(watch, idlest);
    // A whole walk would have found an older task that is alive.
    watch->evicted |=
        idlest->place && !idlest->walks && missed_by(watch, idlest) < 2;
    *idlest = (struct KnownTask){.check = check, .walk = watch->calls.walk};
    return idlest;
}

struct KnownTask *TaskWatch_find(struct State *state, const PyObject *task,
                                 const struct AwaitTask *read)
{
    struct TaskWatch *watch = state->task_watch;
    struct KnownTask *known =
        watch ? find(watch, check_of(task, read), false) : NULL;

    if (known) {
        known->walk = watch->calls.walk;
        known->walks += known->walks < 2;
    }
    if (watch && watch->evicted && !(known && known->place))
        watch->missed |= AwaitTask_number(read) > watch->first;
    return known;
}

struct KnownTask *TaskWatch_know(struct State *state, const PyObject *task,
                                 const struct AwaitTask *read)
{
    struct TaskWatch *watch = state->task_watch;
    struct KnownTask *known =
        watch ? find(watch, check_of(task, read), true) : NULL;

    if (known)
        known->walk = watch->calls.walk;
    return known;
}

double TaskWatch_age(struct State *state, PyObject *coroutine, double now_s)
{
    struct TaskWatch *watch = state->task_watch;

    return watch && watch->active
               ? KnownCalls_age(&watch->calls, coroutine, now_s)
               : 0;
}

// --- Where tasks are created -------------------------------------------------

// Returns the path of the code's source file, or "" if it is not ASCII.
static const char *file_of(const PyCodeObject *code)
{
    PyObject *file = code->co_filename;

    return PyUnicode_Check(file) && PyUnicode_IS_COMPACT_ASCII(file)
               ? (const char *)PyUnicode_1BYTE_DATA(file)
               : "";
}

static bool is_own(const struct State *state, PyCodeObject *code)
{
    const struct Code *traced = Adopt_find(state, (PyObject *)code);

    return traced ? traced->who.own : OwnFile_is(file_of(code));
}

PyCodeObject *TaskWatch_group(const struct State *state,
                              PyCodeObject *const *codes, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (codes[i] && is_own(state, codes[i]))
            return codes[i];
    return count ? codes[0] : NULL;
}

// Returns the frame that creates a task: the innermost frame of the program's
// own code in the running callback. asyncio's frames inside and outside of it
// are skipped. If there is only a library's code between asyncio's frames,
// returns the library's innermost frame. If only asyncio's code runs, returns
// its outermost frame, such as that of a server that creates a task for each
// connection.
static uintptr_t creator_frame(const struct State *state)
{
    uintptr_t frame = FrameStack_newest(THREAD_STATE_CALL());
    uintptr_t found = 0, outermost = 0;

    for (int i = 0; (frame = FrameStack_python(frame)) && i < FRAMES; i++) {
        PyCodeObject *code = (PyCodeObject *)FrameStack_code(frame);

        if (PyCode_Check(code)) {
            if (is_own(state, code))
                return frame;
            if (!strstr(file_of(code), "/asyncio/"))
                found = found ? found : frame;
            else if (found || Adopt_runs_handles(code))
                break; // the loop that runs the code
            else
                outermost = frame;
        }
        frame = FrameStack_previous(frame);
    }
    return found ? found : outermost;
}

// Returns the number of the line that creates a task now, or 0.
static uint16_t find_place(const struct State *state, struct TaskWatch *watch)
{
    uintptr_t frame = creator_frame(state);
    PyObject *keep_name = NULL, *keep_file = NULL;
    const struct Code *traced;
    struct TaskLine line;
    PyCodeObject *code;
    uint32_t place;
    int number;

    if (!frame)
        return 0;
    code = (PyCodeObject *)FrameStack_code(frame);
    traced = Adopt_find(state, (PyObject *)code);
    number = PyUnstable_InterpreterFrame_GetLine(
        (struct _PyInterpreterFrame *)frame);
    line = (struct TaskLine){
        .name = Adopt_text(code->co_qualname, &keep_name),
        .file = Adopt_text(code->co_filename, &keep_file),
        .line = number > 0 ? (uint32_t)number : 0,
        .function = traced ? traced->hot.id : 0,
        .place = true,
    };
    place = TaskLines_add(&watch->places, &line);
    Py_XDECREF(keep_name);
    Py_XDECREF(keep_file);
    return place <= TASK_PLACES ? (uint16_t)place : 0;
}

const struct TaskLine *TaskWatch_place(const struct State *state,
                                       const struct KnownTask *known)
{
    return known && known->place && state->task_watch->active
               ? &state->task_watch->places.all[known->place - 1]
               : NULL;
}

// --- Steps -------------------------------------------------------------------

// Returns the index of the group's entry, or of the free entry for it, or
// GROUPS if there are too many groups.
static unsigned group_at(const struct TaskWatch *watch, uint32_t id)
{
    for (unsigned i = 0; i < GROUPS; i++) {
        unsigned at = (id + i) % GROUPS;

        if (!watch->groups[at].id || watch->groups[at].id == id)
            return at;
    }
    return GROUPS;
}

// Returns the id of the function by which the task is grouped, or 0. A task
// that has ended has no chain, and a chain cannot be read while it runs.
static uint32_t group_of(const struct State *state, PyObject *coroutine,
                         struct KnownTask *known, bool readable)
{
    struct AwaitFrame frame = AwaitFrame_of(coroutine);
    PyCodeObject *code = AwaitFrame_code(&frame), *codes[FRAMES];
    const struct Code *traced;
    unsigned count = 0;
    // A step that has ended without an await tells nothing about the chain.
    bool known_only = known->group && frame.state != AWAIT_SUSPENDED;

    while (code && count < FRAMES) {
        codes[count++] = code;
        if (is_own(state, code))
            break;
        frame = readable ? AwaitFrame_yielded(&frame) : (struct AwaitFrame){0};
        code = frame.code;
    }
    if (known_only && count == 1 && !code)
        return known->group;
    traced = count ? Adopt_find(state, (PyObject *)TaskWatch_group(state, codes,
                                                                   count))
                   : NULL;
    return known->group = traced ? traced->hot.id : 0;
}

static void count_step(struct State *state, PyObject *coroutine,
                       struct KnownTask *known, bool readable)
{
    struct TaskWatch *watch = state->task_watch;
    uint32_t id = group_of(state, coroutine, known, readable);
    unsigned at = id ? group_at(watch, id) : GROUPS;

    known->steps++;
    if (known->place)
        Counter_add(&watch->place_steps[known->place - 1], 1);
    if (at < GROUPS) {
        watch->groups[at].id = id;
        watch->groups[at].steps++;
    }
}

void TaskWatch_step(struct State *state, PyObject *handle, bool unwinds)
{
    struct TaskWatch *watch = state->task_watch;
    struct AwaitTask read = {.name = NULL};
    PyObject *task;

    if (!watch || !watch->active)
        return;
    Counter_add(&state->engine.loops.hooks, 1);
    task = Tasks_of(handle);
    if (task)
        AwaitTask_read(&read, task);
    if (read.coroutine &&
        (handle || AwaitFrame_address(read.coroutine) ==
                       FrameStack_newest(THREAD_STATE_CALL())))
        count_step(state, read.coroutine, TaskWatch_know(state, task, &read),
                   !unwinds);
    Py_XDECREF(task);
    PyErr_Clear();
}

// --- New tasks ---------------------------------------------------------------

// Returns true if the innermost creator has returned the task before. In
// CPython 3.12, the task got its name only after that.
static bool was_noted(struct TaskWatch *watch, const PyObject *task,
                      uint64_t check)
{
    struct KnownTask *before, moved;

    if (task != watch->newest)
        return false;
    before =
        watch->newest_check ? find(watch, watch->newest_check, false) : NULL;
    if (before && check != watch->newest_check) {
        moved = *before;
        moved.check = check;
        *before = (struct KnownTask){0};
        *find(watch, check, true) = moved;
    }
    return true;
}

// Notes a new task. `eager` is that of TaskWatch_returned. If the program gives
// names to tasks, a freed task may have had the same `check` as the new task.
static void note_creation(struct State *state, const PyObject *task,
                          const struct AwaitTask *read, bool innermost,
                          bool eager)
{
    uintptr_t frame = FrameStack_newest(THREAD_STATE_CALL());
    struct TaskWatch *watch = state->task_watch;
    uint64_t check = check_of(task, read);
    bool noted = !innermost && was_noted(watch, task, check);
    struct KnownTask *known;

    watch->newest = innermost ? task : NULL;
    watch->newest_check = check;
    // ensure_future() returns its argument if that is a task.
    if (noted || FrameStack_local(frame, 0) == (uintptr_t)task)
        return;
    known = TaskWatch_know(state, task, read);
    known->steps = known->group = 0;
    known->walks = 0;
    known->place = find_place(state, watch);
    if (!watch->first)
        watch->first = AwaitTask_number(read);
    if (innermost && eager &&
        AwaitFrame_of(read->coroutine).state == AWAIT_SUSPENDED)
        count_step(state, read->coroutine, known, true);
}

// Returns true if an eager task has ended before its creator returns, and
// counts its only step if `eager` is true. The ended task has no coroutine, but
// the creator still has it in its second local variable.
static bool note_ended(struct State *state, const PyObject *task, bool eager)
{
    uintptr_t caller = FrameStack_newest(THREAD_STATE_CALL());
    PyObject *coroutine = (PyObject *)FrameStack_local(caller, 1);
    struct AwaitFrame frame = AwaitFrame_of(coroutine);
    struct KnownTask ended = {.place = 0};

    if (!frame.object || frame.state != AWAIT_ENDED)
        return false;
    state->task_watch->newest = task;
    state->task_watch->newest_check = 0;
    if (eager) {
        ended.place = find_place(state, state->task_watch);
        count_step(state, coroutine, &ended, false);
    }
    return true;
}

bool TaskWatch_returned(struct State *state, PyCodeObject *code,
                        PyObject *result, bool eager)
{
    const struct TaskWatch *watch = state->task_watch;
    struct AwaitTask read;
    bool innermost;

    if (!watch || !watch->active)
        return false;
    Counter_add(&state->engine.loops.hooks, 1);
    // The program may have replaced the creator.
    innermost = (PyObject *)code == watch->creators[INNERMOST] &&
                code->co_argcount >= 2;
    AwaitTask_read(&read, result);
    if (read.coroutine && !(innermost && note_ended(state, result, eager)))
        note_creation(state, result, &read, innermost, eager);
    PyErr_Clear();
    return true;
}

uint64_t TaskWatch_steps(const struct State *state,
                         const struct TaskLine *group)
{
    struct TaskWatch *watch = state->task_watch;
    unsigned at;

    if (!watch || !watch->active || watch->gap ||
        EventLoops_are_off(&state->engine.loops))
        return UINT64_MAX;
    if (group->place) {
        uint32_t place = TaskLines_add(&watch->places, group);

        return place && place <= TASK_PLACES
                   ? Counter_get(&watch->place_steps[place - 1])
                   : UINT64_MAX;
    }
    at = group->function ? group_at(watch, group->function) : GROUPS;
    return at < GROUPS ? watch->groups[at].steps : UINT64_MAX;
}

bool TaskWatch_missed(struct State *state)
{
    struct TaskWatch *watch = state->task_watch;
    bool missed =
        watch && (watch->missed || EventLoops_are_off(&state->engine.loops));

    if (watch)
        watch->missed = false;
    return missed;
}

// --- Begin and end -----------------------------------------------------------

// Returns a function's code in a module or in one of its classes, as a borrowed
// reference, or NULL.
static PyCodeObject *code_of(size_t creator)
{
    const char *class = CREATORS[creator].class;
    const char *function = CREATORS[creator].function;
    PyObject *found =
        Callees_in_module(CREATORS[creator].module, class ? class : function);

    if (found && class) {
        PyObject *name = PyUnicode_InternFromString(function);

        found = name && PyType_Check(found)
                    ? _PyType_Lookup((PyTypeObject *)found, name)
                    : NULL;
        Py_XDECREF(name);
    }
    return found && PyFunction_Check(found)
               ? (PyCodeObject *)PyFunction_GET_CODE(found)
               : NULL;
}

void TaskWatch_set(struct State *state, bool on)
{
    struct TaskWatch *watch = state->task_watch;

    for (size_t i = 0; watch && i < CREATOR_COUNT; i++)
        if (watch->creators[i])
            Tools_set_steps(state, (PyCodeObject *)watch->creators[i], on);
}

// Sets the events at returns of functions that create tasks, if they were not
// set before. The program may import asyncio later.
static void arm(struct State *state)
{
    struct TaskWatch *watch = state->task_watch;

    for (size_t i = 0; i < CREATOR_COUNT; i++) {
        PyCodeObject *code = watch->creators[i] ? NULL : code_of(i);

        if (code && Tools_set_steps(state, code, true) == 0)
            watch->creators[i] = Py_NewRef(code);
    }
    PyErr_Clear();
}

void TaskWatch_renew(struct State *state, bool walks)
{
    const struct TaskBoard *board = &state->engine.session->tasks;
    struct TaskWatch *watch = state->task_watch;
    // A walk for the recording alone would arm the hooks too late for most
    // tasks.
    bool asked = TaskBoard_is_watched(board);

    if (!watch && asked && walks)
        watch = state->task_watch = Heap_zeroed(1, sizeof *watch);
    if (!watch)
        return;
    if (asked && walks) {
        uint64_t switches = Counter_get(&state->engine.loops.switches);

        watch->gap = !watch->active || switches != watch->switches;
        // Tasks that existed before the watch began never have a place.
        watch->missed |= watch->gap && watch->calls.walk;
        // Tasks that were created in the gap have no place either, however long
        // they live.
        if (watch->gap) {
            watch->evicted = false;
            watch->first = 0;
        }
        watch->switches = switches;
        watch->calls.walk++;
        if (!watch->active)
            TaskWatch_set(state, true);
        arm(state);
    }
    if (watch->active && !asked)
        KnownCalls_clear(&watch->calls);
    watch->active = asked && (watch->active || walks);
    if (!TaskBoard_is_kept(board))
        TaskWatch_stop(state);
}

void TaskWatch_stop(struct State *state)
{
    struct TaskWatch *watch = state->task_watch;

    if (!watch)
        return;
    TaskWatch_set(state, false);
    for (size_t i = 0; i < CREATOR_COUNT; i++)
        Py_CLEAR(watch->creators[i]);
    KnownCalls_clear(&watch->calls);
    TaskLines_release(&watch->places);
    Heap_free(watch);
    state->task_watch = NULL;
}
