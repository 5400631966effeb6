// SPDX-License-Identifier: MIT
#include "python/hooks/loop_steps.h"
#include "ipc/base/now.h"
#include "python/hooks/adopt.h"
#include "python/hooks/frame_stack.h"
#include "python/hooks/own_trace.h"
#include "python/hooks/task_watch.h"
#include "python/hooks/tasks.h"
#include "python/hooks/thread_state.h"
#include "python/hooks/tools.h"
#include "tracer/base/tsc_guard.h"

#include <math.h>
#include <time.h>

// Bits of the byte to which Extra_steps points.
#define STEPS 1u       // The code begins steps.
#define STEPS_KNOWN 2u // The discovery tool needs no event of this code.
#define STEPS_RUN 4u   // The code is that of asyncio's Handle._run.

// If a timer seems to be late by more than LATE_MOST_NS, its loop uses another
// clock, and the timer is ignored.
#define LATE_MOST_NS 3600e9

// If there is a budget, the hooks of steps may cost STEPS_PART of the allowed
// cost. The governor allows more steps every one or two seconds. If fewer steps
// begin than are allowed, the rest is allowed later: at most the steps of
// STEPS_ROOM_S seconds, and at most STEPS_MOST. When all allowed steps are used
// up, the hooks of steps are switched off for STEPS_OFF_S seconds.
#define STEPS_PART 0.2
#define STEPS_ROOM_S 10.0
#define STEPS_MOST 20000
#define STEPS_OFF_S 20.0
// The hook at the creation of a task costs as much as the hooks at this number
// of steps.
#define CREATION_STEPS 8

#define COROUTINE (CO_COROUTINE | CO_ITERABLE_COROUTINE)

// --- Timers ------------------------------------------------------------------

// Returns the object in the slot in which a handle has its due time, as a
// borrowed reference. Returns NULL if the handle's class has no such slot.
static PyObject *due_of(PyObject *handle)
{
    PyObject *slot =
        _PyType_Lookup(Py_TYPE(handle), ocular_state.names[TASK_WHEN]);
    const PyMemberDef *member = slot && Py_IS_TYPE(slot, &PyMemberDescr_Type)
                                    ? ((PyMemberDescrObject *)slot)->d_member
                                    : NULL;

    return member && member->type == Py_T_OBJECT_EX
               ? *(PyObject **)((char *)handle + member->offset)
               : NULL;
}

static void note_timer(struct EventLoop *loop, PyObject *handle)
{
    PyObject *when = due_of(handle);
    struct timespec now;
    double late_ns;

    if (!when || !PyFloat_CheckExact(when))
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    late_ns = ((double)now.tv_sec - PyFloat_AS_DOUBLE(when)) * 1e9 +
              (double)now.tv_nsec;
    if (late_ns < LATE_MOST_NS)
        EventLoop_late(loop, late_ns > 0 ? (uint64_t)late_ns : 0);
}

// --- A step ------------------------------------------------------------------

static struct EventLoop *own_loop(uint64_t ticks)
{
    struct ThreadTrace *trace = OwnTrace_get(&ocular_state, ticks);

    if (trace && !trace->event_loop)
        trace->event_loop =
            EventLoops_take(&ocular_state.engine.loops, trace, trace->tid);
    return trace ? trace->event_loop : NULL;
}

static void begin(PyObject *code, unsigned steps)
{
    const PyThreadState *state = THREAD_STATE_CALL();
    uint32_t depth = ThreadState_depth(state);
    uint64_t ticks = Clock_read(&ocular_state.engine.clock);
    struct EventLoop *loop = own_trace ? own_trace->event_loop : NULL;

    if (TscGuard_has_tripped() || (!loop && !(loop = own_loop(ticks))))
        return;
    // If a step is noted as running, but the recursion depth is not larger than
    // the step's depth, the step has ended without an event.
    if (EventLoop_began(loop) && depth > loop->depth) {
        if (steps & STEPS_RUN) // a loop that a task runs
            TaskWatch_step(
                &ocular_state,
                (PyObject *)FrameStack_local(FrameStack_newest(state), 0),
                false);
        return;
    }
    EventLoop_end(loop, ticks);
    loop->handle = 0;
    atomic_store_explicit(&loop->state, (uintptr_t)state, memory_order_relaxed);
    atomic_store_explicit(&loop->chunk, ThreadState_chunk(state),
                          memory_order_relaxed);
    EventLoops_begin(&ocular_state.engine.loops, loop, ticks, depth,
                     (uintptr_t)code);
    if (steps & STEPS_RUN) {
        loop->handle = FrameStack_local(FrameStack_newest(state), 0);
        if (loop->handle)
            note_timer(loop, (PyObject *)loop->handle);
    }
}

// Returns true if asyncio's own loop runs a step in this thread. Then the hooks
// of Handle._run count the task's steps, and otherwise those of its outermost
// coroutine.
static bool runs_handle(void)
{
    const struct EventLoop *loop = own_trace ? own_trace->event_loop : NULL;

    return loop && EventLoop_began(loop) && loop->handle;
}

// Counts the task's step that ends now. The chain of awaits can be read, unless
// the step is the task's last one.
static void count_task(unsigned steps, bool unwinds)
{
    const PyThreadState *state = THREAD_STATE_CALL();
    const struct EventLoop *loop = own_trace ? own_trace->event_loop : NULL;

    if (!ocular_state.task_watch)
        return;
    if (!(steps & STEPS_RUN)) {
        if (!runs_handle())
            TaskWatch_step(&ocular_state, NULL, unwinds);
    } else if (runs_handle() && ThreadState_depth(state) == loop->depth &&
               // The handle exists as long as the caller has it in a variable.
               FrameStack_caller_has(state, loop->handle)) {
        TaskWatch_step(&ocular_state, (PyObject *)loop->handle, unwinds);
    }
}

static void note_stall(const struct EventLoop *loop, uint64_t ended,
                       uint64_t length)
{
    struct Engine *engine = &ocular_state.engine;
    // `at_s` is a time of CLOCK_MONOTONIC, because the counter of ticks may
    // restart when the machine was suspended.
    struct Stall stall = {.began = ended - length,
                          .ended = ended,
                          .at_s = Now_s(CLOCK_MONOTONIC) -
                                  (double)length / engine->loops.hz,
                          .tid = own_trace->tid};

    ThreadTraces_copy_name(&engine->traces, own_trace, stall.thread);
    // The handle exists as long as the caller, the loop, has it in a variable.
    if (!loop->handle ||
        FrameStack_caller_has(THREAD_STATE_CALL(), loop->handle))
        Tasks_name((PyObject *)loop->handle, stall.task, sizeof stall.task);
    EventLoops_stall(&engine->loops, loop, &stall);
}

static void end(void)
{
    struct EventLoop *loop = own_trace ? own_trace->event_loop : NULL;
    uint64_t ticks, length;

    if (!loop || !EventLoop_began(loop) ||
        ThreadState_depth(THREAD_STATE_CALL()) != loop->depth)
        return;
    ticks = Clock_read(&ocular_state.engine.clock);
    if (TscGuard_has_tripped())
        return;
    length = EventLoop_end(loop, ticks);
    if (length >= ocular_state.engine.loops.limit)
        note_stall(loop, ticks, length);
}

static bool is_on(PyObject *code)
{
    return PyCode_Check(code) && ocular_state.phase == PHASE_TRACING &&
           !TscGuard_has_tripped();
}

// Takes the cost of `steps` steps of an event loop from the budget. Returns
// true if the hooks at steps are switched off.
static bool are_off(unsigned steps)
{
    struct EventLoops *loops = &ocular_state.engine.loops;
    unsigned left = ocular_state.steps_left;

    ocular_state.steps_left = left > steps ? left - steps : 0;
    if (left && left <= steps && !EventLoops_are_off(loops)) {
        EventLoops_switch(loops);
        ocular_state.steps_s = Now_s(CLOCK_MONOTONIC);
    }
    return EventLoops_are_off(loops);
}

PyObject *LoopSteps_begin(PyObject *code)
{
    const uint8_t *steps =
        is_on(code) ? Extra_steps(&ocular_state, (PyCodeObject *)code) : NULL;
    bool off;

    if (!steps || !*steps)
        return NULL;
    Counter_add(&ocular_state.engine.loops.hooks, 1);
    off = are_off(1);
    if (!off)
        begin(code, *steps);
    if (!(*steps & STEPS_KNOWN))
        return NULL;
    return off ? ocular_state.disable : Py_None;
}

void LoopSteps_unwind(PyObject *code)
{
    const uint8_t *steps =
        is_on(code) ? Extra_steps(&ocular_state, (PyCodeObject *)code) : NULL;

    if (!steps || !*steps)
        return;
    count_task(*steps, true);
    end();
}

// Returns true if the step that ends now has not begun by a hook, and takes its
// cost from the budget.
static bool is_late(void)
{
    const struct EventLoop *loop = own_trace ? own_trace->event_loop : NULL;

    return !(loop && EventLoop_began(loop)) && are_off(1);
}

PyObject *LoopSteps_end(PyObject *self, PyObject *const *args, size_t nargsf,
                        PyObject *names)
{
    const uint8_t *steps;

    (void)self, (void)names;
    if (PyErr_Occurred())
        return NULL;
    steps = PyVectorcall_NARGS(nargsf) >= 3 && is_on(args[0])
                ? Extra_steps(&ocular_state, (PyCodeObject *)args[0])
                : NULL;
    if (steps && !*steps)
        return !are_off(CREATION_STEPS) &&
                       TaskWatch_returned(&ocular_state,
                                          (PyCodeObject *)args[0], args[2],
                                          runs_handle())
                   ? Py_None
                   : ocular_state.disable;
    Counter_add(&ocular_state.engine.loops.hooks, 1);
    if (is_late() || EventLoops_are_off(&ocular_state.engine.loops))
        return ocular_state.disable;
    if (steps)
        count_task(*steps, false);
    end();
    return Py_None;
}

// Allows as many steps as the budget of `s` seconds is enough for, if tracing
// may take `rate` CPU seconds per second. The cost of a step is computed as in
// costs.c.
static void allow(struct State *state, double rate, double s)
{
    const struct Engine *engine = &state->engine;
    const int64_t *cost = engine->traces.cost;
    double ticks = fmax((double)(cost[HOOK_ENTER] + cost[HOOK_LEAVE]), 1) *
                   Account_hook_factor(&engine->session->account);
    double a_second = STEPS_PART * rate * Clock_hz(&engine->clock) / ticks;
    double most = fmin(a_second * STEPS_ROOM_S, STEPS_MOST);

    state->steps_left =
        (unsigned)fmax(fmin(state->steps_left + a_second * s, most), 1);
}

void LoopSteps_start(struct State *state)
{
    double budget = state->engine.session->config.budget;

    state->step_code_count = 0;
    state->other_loops = false;
    state->steps_s = Now_s(CLOCK_MONOTONIC);
    state->steps_left = 0;
    // The budget is that of a whole core, because a loop with many steps uses
    // one.
    if (!isnan(budget))
        allow(state, budget, STEPS_ROOM_S);
}

void LoopSteps_renew(struct State *state, double now_s, double rate)
{
    struct EventLoops *loops = &state->engine.loops;
    bool off = EventLoops_are_off(loops);
    double s = now_s - state->steps_s;

    if (isnan(state->engine.session->config.budget) ||
        s < (off ? STEPS_OFF_S : 1))
        return;
    if (off) {
        TaskWatch_set(state, false);
        if (Tools_renew_steps(state) == 0)
            EventLoops_switch(loops);
        TaskWatch_set(state, true);
    }
    allow(state, rate, s);
    state->steps_s = now_s;
}

void LoopSteps_stop(struct State *state)
{
    while (state->step_code_count)
        Py_CLEAR(state->step_codes[--state->step_code_count]);
    TaskWatch_stop(state);
}

// --- Which code begins steps -------------------------------------------------

// Returns true if an event loop runs in this thread. `caller` is the code that
// runs a coroutine's step.
static bool runs_loop(const PyCodeObject *caller)
{
    static const char *const RUNNERS[] = {"/trio/_core/_run.py",
                                          "/curio/task.py"};

    for (size_t i = 0; caller && i < sizeof RUNNERS / sizeof *RUNNERS; i++)
        if (Adopt_is_in(caller, RUNNERS[i]))
            return true;
    return Tasks_loop_runs();
}

// Returns true if the running call of `code` is a task's outermost coroutine,
// and not below code that begins steps.
static bool is_outermost(const PyCodeObject *code)
{
    const struct EventLoop *loop = own_trace ? own_trace->event_loop : NULL;
    const PyCodeObject *caller;
    const uint8_t *steps;

    if (!(code->co_flags & COROUTINE) || (loop && EventLoop_began(loop)))
        return false;
    caller = (PyCodeObject *)FrameStack_caller(THREAD_STATE_CALL());
    if (caller && !PyCode_Check(caller))
        return false;
    steps = caller ? Extra_steps(&ocular_state, caller) : NULL;
    return !(steps && *steps) &&
           !(caller && caller->co_flags & (COROUTINE | CO_ASYNC_GENERATOR)) &&
           runs_loop(caller);
}

// Stores the code, so that its steps can be switched on again.
static void remember(PyCodeObject *code)
{
    struct State *state = &ocular_state;
    PyObject *reference = state->step_code_count < STEP_CODES
                              ? PyWeakref_NewRef((PyObject *)code, NULL)
                              : NULL;

    if (reference)
        state->step_codes[state->step_code_count++] = reference;
    PyErr_Clear();
}

bool LoopSteps_adopt(PyObject *object, bool done)
{
    PyCodeObject *code = (PyCodeObject *)object;
    uint8_t *steps = is_on(object) ? Extra_steps(&ocular_state, code) : NULL;
    unsigned kind = STEPS;

    if (!steps || EventLoops_are_off(&ocular_state.engine.loops))
        // The code is not classified yet, or the hooks of steps are switched
        // off because there were too many steps.
        return false;
    if (!*steps) {
        if (Adopt_runs_handles(code))
            kind |= STEPS_RUN;
        else if (!is_outermost(code))
            return false;
        if (Tools_set_steps(&ocular_state, code, true) < 0)
            return false;
        *steps = (uint8_t)kind;
        ocular_state.other_loops |= kind == STEPS;
        remember(code);
        begin(object, kind);
    }
    if (done)
        *steps |= STEPS_KNOWN;
    return true;
}

bool LoopSteps_find(struct State *state, PyCodeObject *code)
{
    uint8_t *steps =
        state->other_loops && !EventLoops_are_off(&state->engine.loops)
            ? Extra_steps(state, code)
            : NULL;

    if (!steps || *steps || Tools_set_steps(state, code, true) < 0)
        return false;
    *steps = STEPS;
    remember(code);
    return true;
}
