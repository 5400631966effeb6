// SPDX-License-Identifier: MIT
// The program begins and ends tasks between two slices. If the cursor loses its
// place because of that, the walk begins again, because it would miss many
// tasks. Otherwise the walk goes on, and may count a few tasks twice or not at
// all.
#include "python/service/task_walk.h"
#include "ipc/base/now.h"
#include "python/hooks/adopt.h"
#include "python/hooks/loop_steps.h"
#include "python/hooks/task_watch.h"
#include "python/service/waiting_task.h"

#include <errno.h>
#include <math.h>
#include <time.h>

// A slice reads tasks for SLICE_S seconds. All slices together may use
// CORE_PART of a core, or DEBT_PART while the budget is overdrawn. CPU time
// that slices have not used may be used later, up to AHEAD_S seconds, so that a
// walk does not take long.
#define SLICE_S 80e-6
#define CORE_PART 0.0025
#define DEBT_PART 0.001
#define AHEAD_S 120e-3
// All walks for the recording may use RECORD_PART of a core. This is a tenth of
// the 0.2 % of a core that a budget of 1 % allows for a nearly idle program.
#define RECORD_PART 0.0002

#define GAP_S 2e-3 // At least this many seconds pass between two slices.

// On average at least WALK_S seconds pass between the beginnings of two walks.
// The time varies at random by up to a quarter, because the program may do the
// same again at regular times. If a walk finds no task, the next begins after
// IDLE_S seconds. After a long walk, the next one begins when all slices
// together have used their part of a core, unless the walk has found more than
// twice as many tasks as the walk before: then the program may have made
// further tasks during the walk.
#define WALK_S 0.25
#define IDLE_S 1.0

// Until the first walk is complete, viewers get a table of the tasks found so
// far every SHOW_S seconds.
#define SHOW_S 0.25

// A walk may begin again RESTARTS times.
#define RESTARTS 2

// A chain has at most DEEPEST coroutines.
#define DEEPEST 1000

// Largest number of coroutines of a chain whose awaits are counted. If a chain
// is longer, the innermost coroutines are not counted, except the last one.
#define CHAIN 64

// A walk asks for the ages of at most AGED suspended calls of a function.
#define AGED 512

// The suspended calls of a whole walk count as calls in flight until the next
// walk has ended, or for WALK_TIMES times the time of the walk and a pause.
#define WALK_TIMES 2

// A slice remembers up to KNOWN groups, a power of 2.
#define KNOWN 64

// --- One task --------------------------------------------------------------

// struct Known remembers the group, the wait or the line of a code object for
// one slice. No code object is freed in a slice, because the GIL is held.
struct Known {
    const void *group; // The group is NULL in the cache of groups.
    const PyCodeObject *code;
    int instruction;
    void *found;
};

// A task that the slice reads. All references in this struct are borrowed.
struct ReadTask {
    PyObject *task;
    struct AwaitTask is;
    struct AwaitFrame frame;    // The task's coroutine.
    struct AwaitFrame inner;    // The innermost coroutine.
    bool ends;                  // True if `inner` awaits no coroutine.
    PyCodeObject *codes[CHAIN]; // The functions of the chain.
    PyObject *calls[CHAIN];     // Their coroutines.
    unsigned depth;
};

struct Slice {
    struct TaskWalk *walk;
    struct State *state;
    uint64_t deadline; // In ticks.
    double now_s;      // CLOCK_MONOTONIC
    struct ReadTask batch[TASK_BATCH];
    struct Known groups[KNOWN], places[KNOWN], waits[KNOWN], awaits[KNOWN];
    struct Known lines[KNOWN];
};

// Sets *known to the entry of a cache for `wanted`. Returns true if the entry
// is known. Otherwise the caller stores the result in the entry.
static bool recall(struct Known *cache, struct Known wanted,
                   struct Known **known)
{
    uintptr_t key = (uintptr_t)wanted.code ^ (uintptr_t)wanted.group << 7;
    struct Known *at;

    key = (key + (uintptr_t)wanted.instruction * 16) * 0x9e3779b97f4a7c15u;
    at = *known = &cache[key >> 58];
    if (at->code == wanted.code && at->group == wanted.group &&
        at->instruction == wanted.instruction)
        return true;
    *at = wanted;
    return false;
}

// The names of a code object. The names are valid until release_names() is
// called.
struct CodeNames {
    PyObject *keep_name, *keep_file;
    struct TaskLine line;
    bool own; // True for a traced function of the program's own code.
};

static void read_names(struct CodeNames *names, const PyCodeObject *code,
                       uint32_t line)
{
    names->line = (struct TaskLine){
        .name = Adopt_text(code->co_qualname, &names->keep_name),
        .file = Adopt_text(code->co_filename, &names->keep_file),
        .line = line,
    };
}

// Reads the names of a coroutine function, with its first line and its id.
static void read_function(struct CodeNames *names, const struct Slice *slice,
                          PyCodeObject *code)
{
    const struct Code *traced = Adopt_suspended(slice->state, code);

    read_names(names, code, (uint32_t)code->co_firstlineno);
    names->line.function = traced ? traced->hot.id : 0;
    names->own = traced && traced->who.own;
}

static void release_names(struct CodeNames *names)
{
    Py_XDECREF(names->keep_name);
    Py_XDECREF(names->keep_file);
}

static struct CountedTasks *group_of_code(struct Slice *slice,
                                          PyCodeObject *code)
{
    struct CountedTasks *group;
    struct CodeNames names;
    struct Known *known;

    if (recall(slice->groups, (struct Known){.code = code}, &known))
        return known->found;
    read_function(&names, slice, code);
    group = TaskGroups_find(&slice->walk->groups, &names.line);
    // The function may have got its id since the last walk.
    if (group && names.line.function)
        group->coroutine.function = names.line.function;
    release_names(&names);
    return known->found = group;
}

static struct TaskWait *wait_of(struct CountedTasks *group, struct Slice *slice,
                                const struct AwaitFrame *frame)
{
    const struct Known wanted = {
        .group = group, .code = frame->code, .instruction = frame->instruction};
    struct CodeNames names;
    struct Known *known;

    if (!group || frame->state != AWAIT_SUSPENDED)
        return NULL;
    if (recall(slice->waits, wanted, &known))
        return known->found;
    read_names(&names, frame->code, AwaitFrame_line(frame));
    known->found = TaskGroups_wait(group, &names.line);
    release_names(&names);
    return known->found;
}

// Returns true if the task is alive and has not ended. CPython's set also has
// tasks that have ended.
static bool is_pending(const struct ReadTask *one)
{
    if (!one->is.coroutine || Py_REFCNT(one->task) <= 0)
        return false;
    if (one->frame.object)
        return one->frame.state != AWAIT_ENDED;
    return !Await_is_done(one->task);
}

static struct CountedTasks *group_of(struct Slice *slice,
                                     const struct ReadTask *one)
{
    struct TaskLine line = {.name = Py_TYPE(one->is.coroutine)->tp_name};
    struct CountedTasks *group;
    struct KnownTask *known;
    PyCodeObject *code;

    if (!one->frame.code)
        return TaskGroups_find(&slice->walk->groups, &line);
    code = TaskWatch_group(slice->state, one->codes, one->depth);
    group = group_of_code(slice, code);
    // While a task runs, its chain cannot be read, so the group is stored for
    // its steps.
    known = group && code != one->frame.code
                ? TaskWatch_know(slice->state, one->task, &one->is)
                : NULL;
    if (known)
        known->group = group->coroutine.function;
    return group;
}

// Returns the group of the place at which the task was created, or NULL.
static struct CountedTasks *place_of(struct Slice *slice,
                                     const struct KnownTask *task)
{
    const struct TaskLine *line = TaskWatch_place(slice->state, task);
    struct Known *known;

    if (!line)
        return NULL;
    if (recall(slice->places, (struct Known){.instruction = task->place},
               &known))
        return known->found;
    return known->found = TaskGroups_find(&slice->walk->groups, line);
}

static struct AwaitCount *await_of(struct Slice *slice, PyCodeObject *code)
{
    struct AwaitCount *count;
    struct CodeNames names;
    struct Known *known;

    if (recall(slice->awaits, (struct Known){.code = code}, &known))
        return known->found;
    read_function(&names, slice, code);
    known->found = count = AwaitCounts_find(&slice->walk->awaits, &names.line);
    if (count)
        count->own = names.own;
    release_names(&names);
    return count;
}

static void note_frame(struct ReadTask *one, const struct AwaitFrame *frame)
{
    unsigned at = one->depth < CHAIN ? one->depth++ : CHAIN - 1;

    one->codes[at] = frame->code;
    one->calls[at] = frame->object;
}

// Counts what the task's suspended coroutines await.
static void count_awaits(struct Slice *slice, const struct ReadTask *one)
{
    struct AwaitCount *chain[CHAIN];

    if (one->inner.state != AWAIT_SUSPENDED)
        return;
    for (unsigned i = 0; i < one->depth; i++) {
        chain[i] = await_of(slice, one->codes[i]);
        if (chain[i] && chain[i]->own && chain[i]->aged++ < AGED)
            chain[i]->oldest_s =
                fmax(chain[i]->oldest_s,
                     TaskWatch_age(slice->state, one->calls[i], slice->now_s));
    }
    AwaitCounts_add(&slice->walk->awaits, chain, one->depth,
                    AwaitFrame_waits_for(&one->inner));
}

// Returns the number of the line at which a coroutine of a chain is.
static uint32_t line_of(struct Slice *slice, const struct AwaitFrame *frame)
{
    const struct Known wanted = {.code = frame->code,
                                 .instruction = frame->instruction};
    const struct Code *traced;
    struct CodeNames names;
    struct Known *known;
    uint32_t line;

    if (recall(slice->lines, wanted, &known))
        return (uint32_t)(uintptr_t)known->found;
    traced = Adopt_find(slice->state, (PyObject *)frame->code);
    read_names(&names, frame->code, AwaitFrame_line(frame));
    names.line.function = traced ? traced->hot.id : 0;
    line = TaskLines_add(&slice->walk->groups.lines, &names.line);
    release_names(&names);
    known->found = (void *)(uintptr_t)line;
    return line;
}

static bool is_shown(const struct Slice *slice,
                     const struct CountedTasks *group)
{
    return group->oldest.shown ||
           (slice->walk->all_shown && !group->coroutine.place);
}

// Returns the CPU time of a task as a share of a core, or NaN.
static double share_of(const struct Slice *slice, const struct ReadTask *one,
                       uint64_t number)
{
    struct Session *session = slice->state->engine.session;
    uint64_t key =
        (uintptr_t)one->task ^ (uintptr_t)one->is.name << 8 ^ number << 32;

    return session->sampler && TaskBoard_is_watched(&session->tasks)
               ? Sampler_single_share(session->sampler,
                                      AwaitFrame_address(one->is.coroutine),
                                      key)
               : NAN;
}

// Adds a task to its group's list, if it is one of the oldest tasks.
static void list_task(struct Slice *slice, struct CountedTasks *group,
                      const struct ReadTask *one, uint64_t number)
{
    struct ListedTask *listed =
        group ? TaskList_add(&group->oldest, number) : NULL;
    struct AwaitFrame frame = one->frame;
    const struct KnownTask *known;

    if (!listed)
        return;
    known = EventLoops_are_off(&slice->state->engine.loops)
                ? NULL
                : TaskWatch_know(slice->state, one->task, &one->is);
    listed->steps = known ? known->steps : UINT64_MAX;
    listed->cpu_share =
        is_shown(slice, group) ? share_of(slice, one, number) : NULL_F64;
    if (known && one->frame.code &&
        LoopSteps_find(slice->state, one->frame.code))
        slice->deadline = 0;
    WaitingTask_name(listed->name, &one->is);
    WaitingTask_read(listed, one->task, frame.state, &slice->walk->cursor);
    for (int i = 0; i < DEEPEST && frame.code; i++) {
        ListedTask_add_line(listed, line_of(slice, &frame));
        frame = AwaitFrame_inner(&frame);
    }
}

// Goes to the innermost coroutines. The memory of the next coroutines is read
// ahead.
static void go_inside(struct ReadTask *batch, unsigned count)
{
    bool more = true;

    for (unsigned depth = 0; more && depth < DEEPEST; depth++) {
        more = false;
        for (unsigned i = 0; i < count; i++) {
            struct AwaitFrame inner = AwaitFrame_inner(&batch[i].inner);

            batch[i].ends |= !inner.object;
            if (batch[i].ends)
                continue;
            more = true;
            batch[i].inner = inner;
            note_frame(&batch[i], &inner);
            AwaitFrame_prefetch(&inner);
        }
    }
}

static void count_task(struct Slice *slice, const struct ReadTask *one)
{
    struct TaskGroups *groups = &slice->walk->groups;
    struct CountedTasks *group = group_of(slice, one), *place;
    uint64_t number = AwaitTask_number(&one->is);

    TaskGroups_add(groups, group, wait_of(group, slice, &one->inner), number);
    count_awaits(slice, one);
    if (AwaitTask_is_numbered(&one->is))
        TaskGroups_note_birth(groups, number, slice->now_s);
    list_task(slice, group, one, number);
    place = place_of(slice, TaskWatch_find(slice->state, one->task, &one->is));
    TaskGroups_add_to_place(place, wait_of(place, slice, &one->inner), number);
    list_task(slice, place, one, number);
}

// Counts the next tasks. Returns false at the deadline, and the next slice then
// begins at the first task that is not counted. A task's memory is rarely
// in a cache of the CPU, so the memory of all tasks of the batch is read ahead
// at each step.
static bool count_batch(struct Slice *slice)
{
    const struct Clock *clock = &slice->state->engine.clock;
    struct ReadTask *batch = slice->batch, *one;
    PyObject *tasks[TASK_BATCH];
    unsigned count = TaskCursor_next(&slice->walk->cursor, slice->state, tasks);

    for (one = batch; one < batch + count; one++) {
        one->task = tasks[one - batch];
        AwaitTask_prefetch(one->task);
    }
    for (one = batch; one < batch + count; one++)
        AwaitTask_read(&one->is, one->task);
    for (one = batch; one < batch + count; one++) {
        one->frame = AwaitFrame_of(one->is.coroutine);
        AwaitFrame_prefetch(&one->frame);
        one->inner = one->frame;
        one->ends = false;
        one->depth = 0;
        note_frame(one, &one->frame);
    }
    go_inside(batch, count);
    for (one = batch; one < batch + count; one++) {
        if (one > batch && Clock_read(clock) >= slice->deadline) {
            TaskCursor_return(&slice->walk->cursor, (unsigned)(one - batch));
            return false;
        }
        if (is_pending(one))
            count_task(slice, one);
    }
    return true;
}

// --- A slice ---------------------------------------------------------------

static void begin(struct TaskWalk *walk, double now_s)
{
    walk->walking = TaskGroups_begin(&walk->groups, now_s);
    AwaitCounts_begin(&walk->awaits);
    TaskCursor_begin(&walk->cursor);
}

// Opens the cursor, and begins the walk if necessary. Returns false if there is
// nothing to read.
static bool open_cursor(struct TaskWalk *walk, struct State *state,
                        double now_s)
{
    int error;

    if (!walk->walking) {
        walk->restarts = 0;
        walk->cost_s = 0;
        begin(walk, now_s);
        TaskWatch_renew(state, true);
    }
    error = TaskCursor_open(&walk->cursor, state);
    if (error == -ESTALE && walk->restarts < RESTARTS) {
        walk->restarts++;
        begin(walk, now_s);
        error = TaskCursor_open(&walk->cursor, state);
    }
    return walk->walking && error != -ENOTSUP;
}

// Notes how many steps the tasks of each group have made.
static void note_steps(struct Slice *slice)
{
    struct TaskGroups *groups = &slice->walk->groups;

    if (TaskWatch_missed(slice->state))
        groups->missed_s = slice->now_s;
    for (unsigned i = 0; i < groups->count; i++) {
        struct CountedTasks *group = &groups->all[i];

        if (group->coroutine.name)
            CountedTasks_note_steps(
                group, TaskWatch_steps(slice->state, &group->coroutine),
                slice->now_s);
    }
}

void TaskWalk_step(struct TaskWalk *walk, struct State *state)
{
    const struct Clock *clock = &state->engine.clock;
    struct Slice slice = {
        .walk = walk,
        .state = state,
        .deadline = Clock_read(clock) + (uint64_t)(SLICE_S * Clock_hz(clock)),
        .now_s = Now_s(CLOCK_MONOTONIC),
    };

    if (state->phase != PHASE_TRACING)
        return;
    if (open_cursor(walk, state, slice.now_s)) {
        // If there are thousands of threads, opening the cursor takes long.
        // Each slice reads at least one batch, so that the walk ends
        // nevertheless.
        while (!walk->cursor.ended && count_batch(&slice) &&
               Clock_read(clock) < slice.deadline)
            ;
        TaskCursor_close(&walk->cursor);
        if (walk->cursor.ended)
            note_steps(&slice);
    }
    PyErr_Clear();
}

void TaskWalk_stop(struct TaskWalk *walk)
{
    walk->walking = false;
    TaskCursor_drop(&walk->cursor);
}

// --- Without the GIL -------------------------------------------------------

bool TaskWalk_is_due(const struct TaskWalk *walk, const struct State *state,
                     double now_s)
{
    return now_s >= walk->next_s &&
           TaskBoard_is_asked(&state->engine.session->tasks);
}

void TaskWalk_prepare(struct TaskWalk *walk, struct State *state)
{
    struct TaskBoard *board = &state->engine.session->tasks;

    walk->all_shown = TaskBoard_is_shown(board, TASK_KEY_ALL);
    for (unsigned i = 0; !walk->walking && i < walk->groups.count; i++) {
        struct CountedTasks *group = &walk->groups.all[i];

        if (group->coroutine.name)
            TaskList_prepare(
                &group->oldest,
                TaskBoard_is_shown(board, CountedTasks_key(group)));
    }
}

static void show(struct TaskWalk *walk, struct TaskBoard *board, bool whole,
                 double now_s)
{
    struct TaskTable *table = TaskGroups_table(&walk->groups, whole, now_s);

    walk->shown_s = now_s;
    if (table)
        AwaitCounts_fill(&walk->awaits, table);
    if (table) // If memory is out, the old table stays.
        TaskBoard_set(board, table);
}

// Returns the seconds from the beginning of a walk to that of the next one.
static double pause_s(struct TaskWalk *walk, double core_part)
{
    uint64_t found = walk->groups.found;
    double pause = found ? WALK_S * Random_factor(&walk->random) : IDLE_S;

    return found > 2 * walk->found ? pause
                                   : fmax(pause, walk->cost_s / core_part);
}

// Pays for a slice, and plans the next one.
static void pay(struct TaskWalk *walk, double took_s, double core_part,
                double now_s)
{
    double credit_s = walk->credit_s + (now_s - walk->credited_s) * core_part;

    walk->credit_s = fmin(credit_s, AHEAD_S) - took_s;
    walk->credited_s = now_s;
    walk->next_s = now_s + fmax(GAP_S, -walk->credit_s / core_part);
}

void TaskWalk_end_slice(struct TaskWalk *walk, struct State *state,
                        double took_s, bool overdrawn)
{
    struct TaskBoard *board = &state->engine.session->tasks;
    double now_s = Now_s(CLOCK_MONOTONIC);
    bool whole = walk->walking && walk->cursor.ended;
    bool first = walk->groups.last_s == 0;
    double core_part = overdrawn ? DEBT_PART : CORE_PART;

    walk->cost_s += took_s;
    if (whole || (overdrawn && !TaskBoard_is_watched(board)))
        TaskBoard_end_walk(board, whole, walk->cost_s / RECORD_PART);
    pay(walk, took_s, core_part, now_s);
    if (whole) {
        double pause = pause_s(walk, core_part);

        TaskGroups_end(&walk->groups, now_s);
        AwaitCounts_tell(
            &walk->awaits, &state->engine,
            WALK_TIMES * (now_s - walk->groups.begun_s + fmax(pause, IDLE_S)));
        AwaitCounts_end(&walk->awaits, now_s);
        walk->walking = false;
        walk->next_s = fmax(walk->next_s, walk->groups.begun_s + pause);
        walk->found = walk->groups.found;
        show(walk, board, true, now_s);
    } else if (walk->walking && first && now_s - walk->shown_s >= SHOW_S) {
        show(walk, board, false, now_s);
    }
}

double TaskWalk_pause(struct TaskWalk *walk, struct State *state, double now_s)
{
    struct TaskBoard *board = &state->engine.session->tasks;

    if (TaskBoard_is_asked(board))
        return fmax(walk->next_s - now_s, 0);
    // If nobody asks for tasks any more, the next walk begins at the first
    // task, because the program goes on meanwhile.
    walk->walking = false;
    TaskGroups_interrupt(&walk->groups);
    if (walk->groups.all && !TaskBoard_is_kept(board)) {
        TaskWalk_release(walk);
        TaskBoard_set(board, NULL);
        walk->shown_s = 0;
    }
    return INFINITY;
}

void TaskWalk_release(struct TaskWalk *walk)
{
    TaskGroups_release(&walk->groups);
    AwaitCounts_release(&walk->awaits);
}
