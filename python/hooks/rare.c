// SPDX-License-Identifier: MIT
#include "python/hooks/rare.h"
#include "python/hooks/adopt.h"
#include "python/hooks/c_functions.h"
#include "python/hooks/call.h"
#include "python/hooks/callees.h"
#include "python/hooks/frame_stack.h"
#include "python/hooks/loop_steps.h"
#include "python/hooks/tasks.h"
#include "python/hooks/tools.h"
#include "python/hooks/writer.h"
#include "tracer/base/tsc_guard.h"

// Returns the value that a hook of PY_UNWIND or PY_THROW returns to CPython.
// From 3.15 on these events are local and can be disabled. Before 3.15 these
// events are global, and CPython would raise an exception at DISABLE (tools.c).
static PyObject *unless_dark(const struct Code *code)
{
#if PY_VERSION_HEX >= 0x030F0000
    if (code->hot.dark && !code->hot.watched)
        return ocular_state.disable;
#endif
    (void)code;
    return Py_None;
}

static bool write_down(PyObject *code, enum HitKind kind, size_t unit)
{
    return ocular_state.fast && (Writer_write(code, kind, unit, 0) ||
                                 Writer_write_again(code, kind, unit, 0));
}

PyObject *Rare_unwind(PyObject *self, PyObject *const *args, size_t nargsf,
                      PyObject *names)
{
    const struct Code *code;
    struct Call call;

    (void)self, (void)names;
    if (PyErr_Occurred())
        return NULL;
    if (PyVectorcall_NARGS(nargsf) < 2)
        return Py_None;
    Tools_note_unwind(&ocular_state);
    LoopSteps_unwind(args[0]);
    code = Adopt_find(&ocular_state, args[0]);
    if (!code)
        return Py_None;
    // If code has no hooks and Ocular does not watch the ends of its calls, no
    // hit is written. The depth of a later event shows that the frame of dark
    // code has ended, and a hit would cost more.
    if (code->hot.dark && !code->hot.watched)
        return unless_dark(code);
    if (write_down(args[0], HIT_RAISE, 0))
        return unless_dark(code);
    Call_init(&call);
    if (Call_look(&call, args, nargsf))
        Call_count_alone(&call, HIT_RAISE, 0);
    return unless_dark(code);
}

PyObject *Rare_throw(PyObject *self, PyObject *const *args, size_t nargsf,
                     PyObject *names)
{
    const struct Code *code;
    struct Call call;

    (void)self, (void)names;
    if (PyErr_Occurred())
        return NULL;
    if (PyVectorcall_NARGS(nargsf) < 2)
        return Py_None;
    LoopSteps_begin(args[0]);
    code = Adopt_find(&ocular_state, args[0]);
    if (!code)
        return Py_None;
    if (PyLong_Check(args[1]) &&
        write_down(args[0], HIT_THROW, Call_unit(args[1])))
        return unless_dark(code);
    Call_init(&call);
    if (Call_look(&call, args, nargsf))
        Call_count_alone(&call, HIT_THROW, 0);
    return unless_dark(code);
}

// Charges the cost of a hook that has written no hit. CPython's call of the
// hook costs the same as the call of a hook that writes a hit.
static void pay_call(struct Call *call)
{
    const int64_t *cost = ocular_state.engine.traces.cost;
    int64_t hook = (cost[HOOK_ENTER] + cost[HOOK_LEAVE]) / 2;

    if (!Writer_pay(call->ticks, hook > 0 ? (uint64_t)hook : 0))
        Call_pay(call);
}

static PyObject *note_call(struct Code *code, PyObject *const *args,
                           struct Call *call)
{
    enum CEvent event = C_ENDS;

    if (ocular_state.sees_c && PyLong_Check(args[1]))
        event =
            CFunctions_begin(&ocular_state, code, (uint32_t)Call_unit(args[1]),
                             args[2], call->ticks);
    // At threshold 0 all calls of C functions write hits, but the call of a
    // Python function writes none here.
    if (ocular_state.counts_c) {
        if (event == C_ENDS)
            pay_call(call);
        return Py_None;
    }
    if (event == C_IS_KNOWN)
        return Py_None;
    // CFunctions_begin may have run code that ended the trace.
    code = Adopt_find(&ocular_state, args[0]);
    if (code)
        Callees_note(&ocular_state, code, args[2]);
    Call_pay(call);
    return event == C_ENDS ? ocular_state.disable : Py_None;
}

PyObject *Rare_call(PyObject *self, PyObject *const *args, size_t nargsf,
                    PyObject *names)
{
    struct Code *code;
    struct Call call;

    (void)self, (void)names;
    if (PyVectorcall_NARGS(nargsf) < 3 || TscGuard_has_tripped())
        return ocular_state.disable;
    code = Adopt_find(&ocular_state, args[0]);
    Call_init(&call);
    if (code)
        return note_call(code, args, &call);
    Call_pay(&call);
    return ocular_state.disable;
}

PyObject *Rare_c_end(PyObject *self, PyObject *const *args, size_t nargsf,
                     PyObject *names)
{
    struct Code *code;

    (void)self, (void)names;
    if (PyErr_Occurred())
        return NULL;
    if (PyVectorcall_NARGS(nargsf) < 3 || !PyLong_Check(args[1]) ||
        !ocular_state.sees_c || TscGuard_has_tripped())
        return Py_None;
    code = Adopt_find(&ocular_state, args[0]);
    if (code)
        CFunctions_end(&ocular_state, code, (uint32_t)Call_unit(args[1]),
                       args[2]);
    return Py_None;
}

// Returns true if the tracer has missed the call that this discovery event
// reports. CPython calls tools from the highest id down. If CPython has called
// the tracer's hook before, the call's frame is therefore already on top of the
// thread's shadow stack.
static bool is_missed(const struct Call *call)
{
    const struct Frame *top = call->trace->top;

    return !call->code->hot.dark &&
           (top->code != call->code || top->depth != call->depth);
}

static enum HitKind kind_of(const struct Call *call)
{
    return Call_resumes(call) ? HIT_RESUME : HIT_ENTER;
}

static void enter_missed(struct Call *call, bool first)
{
    bool missed;

    Call_begin(call);
    missed = first || is_missed(call);
    if (missed)
        Call_count(call, kind_of(call), 0);
    Call_end(call);
    if (missed)
        Tasks_note(call);
}

static void count_unarmed(struct Call *call)
{
    struct Code *code = call->code;
    bool again = Counter_get(&code->hot.entries) > 0;

    Counter_add(&code->hot.entries, 1);
    if (Call_resumes(call))
        Counter_add(&code->hot.resumed, 1);
    Counter_set(&code->hot.last_seen, call->ticks);
    ThreadTrace_settle(call->trace, call->depth,
                       Hit_caller(FrameStack_caller(call->state)), call->ticks);
    if (code->hot.last_caller != call->trace->top->id)
        ThreadTrace_note_caller(call->trace, code, call->depth);
    atomic_store_explicit(&code->cold.again, again, memory_order_relaxed);
    if (again)
        atomic_store_explicit(&code->cold.dark_since, call->ticks,
                              memory_order_relaxed);
}

// Handles a call of code that is not armed. The first call is only counted, so
// that code that runs once is never armed. The second call arms the code if the
// budget allows it. Otherwise the governor arms the code once samples show that
// the code takes much time. Returns true if the discovery event can be
// disabled.
static bool enter_unarmed(struct Call *call)
{
    struct State *state = &ocular_state;
    struct Session *session = state->engine.session;
    bool again = Counter_get(&call->code->hot.entries) > 0;
    bool armed =
        again &&
        atomic_load_explicit(&session->arm_new, memory_order_relaxed) &&
        Adopt_rearm(state, call->code, Adopt_hits(state), false) == 0;

    Call_begin(call);
    if (armed)
        Call_count(call, kind_of(call), 0);
    else
        count_unarmed(call);
    Call_end(call);
    if (armed)
        Tasks_note(call);
    return again;
}

PyObject *Rare_discover(PyObject *self, PyObject *const *args, size_t nargsf,
                        PyObject *names)
{
    struct Call call;
    bool done = true, steps = false;
    PyObject *answer;

    (void)self, (void)names;
    if (PyErr_Occurred())
        return NULL;
    if (PyVectorcall_NARGS(nargsf) >= 2 && (answer = LoopSteps_begin(args[0])))
        return answer;
    Call_init(&call);
    if (PyVectorcall_NARGS(nargsf) < 2 || !PyCode_Check(args[0]) ||
        ocular_state.phase != PHASE_TRACING || TscGuard_has_tripped()) {
        ;
    } else if (Adopt_put_off(&ocular_state, (PyCodeObject *)args[0])) {
        done = false;
    } else {
        bool first = Adopt_classify(&ocular_state, (PyCodeObject *)args[0]);

        Tools_restore(&ocular_state, (PyCodeObject *)args[0]);
        if (!Call_look(&call, args, nargsf))
            ;
        else if (call.code->cold.unarmed)
            done = enter_unarmed(&call);
        else
            enter_missed(&call, first);
        steps = LoopSteps_adopt(args[0], done);
    }
    // The time for classifying new code is charged as overhead, not to the
    // caller.
    Call_pay(&call);
    return done && !steps ? ocular_state.disable : Py_None;
}
