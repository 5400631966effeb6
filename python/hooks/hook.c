// SPDX-License-Identifier: MIT
// The hot path's entry: one function for each event and path, called by the
// interpreter on the traced thread with its lock held. A hook never prints, and
// raises nothing of its own. Only the slow path may allocate (a record, a Code,
// its callers, a histogram, the shadow stack, a task's number), lock (to take
// over a thread's name) or ask the kernel (after a long span). It returns None
// or DISABLE, both immortal; or NULL, where hooks were timed and something else
// has raised there (time_again).
#include "python/hooks/hook.h"
#include "python/hooks/calibrate.h"
#include "python/hooks/call.h"
#include "python/hooks/interpreter.h"
#include "python/hooks/own_trace.h"
#include "python/hooks/rare.h"
#include "python/hooks/thread_state.h"
#include "tracer/hook/thread_trace_call.h"
#include "tracer/hook/thread_trace_jump.h"
#include "tracer/hook/thread_trace_step.h"

static void mark_dark(struct Code *code, size_t unit)
{
    struct Site *site = Code_site(code, 2 * unit);

    if (site) {
        atomic_store_explicit(&site->dark, 1, memory_order_relaxed);
        Code_note_change(code);
    }
}

// --- Enter -----------------------------------------------------------------

// The call in which the function goes dark, which need not be timed.
static bool is_edge(const struct Code *code)
{
    return Counter_get(&code->hot.entries) + 1 >= code->hot.stop_at &&
           code->hot.enter_hook == HOOK_ENTER;
}

// A function goes dark here, in the midst of the program and in
// whatever state its CPU is: the place to time hooks again. Not where something
// resumes: between an await and what it awaits CPython lets nothing come in.
// The thread is in a callback, in which there are no events: it leaves that for
// as long. What it takes is our cost, not the program's time. False: what came
// in between has raised.
static bool time_again(struct Call *call)
{
    struct Calibration *calibration = ocular_state.calibration;
    PyThreadState *thread = PyThreadState_Get();
    struct ThreadTrace *own = own_trace;
    bool raised;

    own_trace = Calibration_begin(calibration, own);
    PyThreadState_LeaveTracing(thread);
    raised = Calibration_renew(calibration) < 0;
    PyThreadState_EnterTracing(thread);
    own_trace = own;
    Counter_add(&own->overhead, Calibration_end(calibration));
    call->ticks = Clock_read(&ocular_state.engine.clock);
    return !raised;
}

__attribute__((noinline)) static PyObject *
enter_slow(PyObject *const *args, size_t nargsf, uint64_t ticks)
{
    struct Call call;

    if (!Call_look(&call, args, nargsf, ticks))
        return Py_None;
    if (is_edge(call.code) &&
        Calibration_is_due(ocular_state.calibration, call.trace, call.state,
                           call.ticks)) {
        if (!time_again(&call))
            return NULL;
        // Tracing may have ended meanwhile, and begun again.
        if (!Call_look(&call, args, nargsf, call.ticks))
            return Py_None;
    }
    if (!Call_enter(&call, Call_resumes(&call)))
        return Py_None;
    mark_dark(call.code, call.unit);
    return ocular_state.disable;
}

OCULAR_HOT PyObject *enter(PyObject *const *args, size_t nargsf, bool resumed,
                           enum HookPath path)
{
    const PyThreadState *state = ThreadState_fast();
    uint32_t depth = ThreadState_depth(state);
    uint64_t ticks;
    struct ThreadTrace *trace = own_trace;
    const struct Seen *seen;
    size_t unit;

    if (OCULAR_UNLIKELY(!trace || !(nargsf & 2) ||
                        trace->chunk != ThreadState_chunk(state)))
        return enter_slow(args, nargsf, Clock_counter());
    seen = ThreadTrace_seen(trace, (uintptr_t)args[0]);
    unit = Call_unit(args[1]);
    if (OCULAR_UNLIKELY(
            seen->address != (uintptr_t)args[0] ||
            unit >= seen->code->layout.unit_count ||
            !ThreadTrace_is_fast_enter(trace, seen->code, depth, path)))
        return enter_slow(args, nargsf, Clock_counter());
    ticks = Clock_counter();
    if (OCULAR_UNLIKELY(!ThreadTrace_is_brief(trace, ticks)))
        return enter_slow(args, nargsf, ticks);
    if (resumed)
        Counter_add(&seen->code->hot.resumed, 1);
    ThreadTrace_enter(trace, seen->code, depth,
                      seen->code->layout.units[unit].number, ticks, path);
    return Py_None;
}

// --- Leave -----------------------------------------------------------------

// The event is the top frame's, on the stack that the last event was on.
OCULAR_HOT bool is_from_top_frame(const struct ThreadTrace *trace,
                                  const PyThreadState *state,
                                  const PyObject *code)
{
    return trace->chunk == ThreadState_chunk(state) &&
           trace->top->address == (uintptr_t)code;
}

OCULAR_HOT struct Site *site_at(const struct Code *code, size_t unit)
{
    unsigned index = code->layout.units[unit].site;

    return OCULAR_LIKELY(index) ? &code->layout.sites[index - 1] : NULL;
}

__attribute__((noinline)) static PyObject *
leave_slow(PyObject *const *args, size_t nargsf, uint64_t ticks)
{
    struct Call call;

    if (!Call_look(&call, args, nargsf, ticks))
        return Py_None;
    Call_charge(&call);
    if (!Call_leave(&call, site_at(call.code, call.unit)))
        return Py_None;
    return ocular_state.disable;
}

OCULAR_HOT PyObject *leave(PyObject *const *args, size_t nargsf,
                           enum HookPath path)
{
    const PyThreadState *state = ThreadState_fast();
    uint32_t depth = ThreadState_depth(state);
    uint64_t ticks;
    struct ThreadTrace *trace = own_trace;
    struct Site *site;
    struct Code *code;
    size_t unit;

    if (OCULAR_UNLIKELY(!trace || !(nargsf & 2) ||
                        !is_from_top_frame(trace, state, args[0])))
        return leave_slow(args, nargsf, Clock_counter());
    code = trace->top->code;
    unit = Call_unit(args[1]);
    if (OCULAR_UNLIKELY(unit >= code->layout.unit_count ||
                        !(site = site_at(code, unit)) ||
                        !ThreadTrace_is_fast_leave(trace, code, depth, path)))
        return leave_slow(args, nargsf, Clock_counter());
    ticks = Clock_counter();
    if (OCULAR_UNLIKELY(!ThreadTrace_is_brief(trace, ticks)))
        return leave_slow(args, nargsf, ticks);
    ThreadTrace_leave(trace, code, site, depth, ticks, path);
    return Py_None;
}

// --- Jump ------------------------------------------------------------------

__attribute__((noinline)) static PyObject *
jump_slow(PyObject *const *args, size_t nargsf, uint64_t ticks,
          enum HookKind kind, unsigned arm)
{
    struct Call call;
    struct Site *site;
    size_t to;

    if (PyVectorcall_NARGS(nargsf) < 3 ||
        !Call_look(&call, args, nargsf, ticks) || !PyLong_Check(args[2]))
        return Py_None;
    site = site_at(call.code, call.unit);
    to = Call_unit(args[2]);
    if (!site || to >= call.code->layout.unit_count)
        return ocular_state.disable;
    Call_charge(&call);
    return ThreadTrace_jump(call.trace, call.code, site + arm,
                            call.code->layout.units[to].number, call.depth,
                            call.ticks, kind, PATH_SLOW)
               ? ocular_state.disable
               : Py_None;
}

OCULAR_HOT PyObject *jump(PyObject *const *args, size_t nargsf,
                          enum HookKind kind, unsigned arm, enum HookPath path)
{
    const PyThreadState *state = ThreadState_fast();
    uint32_t depth = ThreadState_depth(state);
    uint64_t ticks;
    struct ThreadTrace *trace = own_trace;
    struct Site *site;
    struct Code *code;
    size_t unit, to;

    if (OCULAR_UNLIKELY(!trace || (nargsf & 3) != 3 ||
                        !is_from_top_frame(trace, state, args[0])))
        return jump_slow(args, nargsf, Clock_counter(), kind, arm);
    code = trace->top->code;
    unit = Call_unit(args[1]);
    to = Call_unit(args[2]);
    if (OCULAR_UNLIKELY(
            unit >= code->layout.unit_count || to >= code->layout.unit_count ||
            !(site = site_at(code, unit)) ||
            !ThreadTrace_is_fast_jump(trace, site + arm, depth, path)))
        return jump_slow(args, nargsf, Clock_counter(), kind, arm);
    ticks = Clock_counter();
    if (OCULAR_UNLIKELY(!ThreadTrace_is_brief(trace, ticks)))
        return jump_slow(args, nargsf, ticks, kind, arm);
    ThreadTrace_jump(trace, code, site + arm, code->layout.units[to].number,
                     depth, ticks, kind, path);
    return Py_None;
}

// --- Instruction, in precise mode --------------------------------------------

OCULAR_HOT enum HookKind step_kind(size_t unit)
{
    return unit < HOOK_NEAR_UNITS ? HOOK_INSTRUCTION : HOOK_INSTRUCTION_FAR;
}

// The instruction whose opcode stands there: not an EXTENDED_ARG, which is part
// of the next one, nor one beyond what has sites. NULL in adaptive mode.
OCULAR_HOT struct Instruction *instruction_at(const struct Code *code,
                                              size_t unit)
{
    struct Instruction *all = code->layout.instructions;
    struct Instruction *at = all + code->layout.units[unit].number;

    return OCULAR_LIKELY(all && at->unit == unit) ? at : NULL;
}

__attribute__((noinline)) static PyObject *
step_slow(PyObject *const *args, size_t nargsf, uint64_t ticks)
{
    struct Call call;

    if (!Call_look(&call, args, nargsf, ticks))
        return Py_None;
    if (!instruction_at(call.code, call.unit)) {
        ThreadTrace_lose_step(call.trace); // taking the hook out takes its time
        return ocular_state.disable;
    }
    return ThreadTrace_step(
               call.trace, call.code, call.code->layout.units[call.unit].number,
               call.depth, call.ticks, step_kind(call.unit), PATH_SLOW)
               ? ocular_state.disable
               : Py_None;
}

OCULAR_HOT PyObject *step(PyObject *const *args, size_t nargsf,
                          enum HookPath path)
{
    const PyThreadState *state = ThreadState_fast();
    uint32_t depth = ThreadState_depth(state);
    uint64_t ticks;
    struct ThreadTrace *trace = own_trace;
    struct Instruction *at;
    struct Code *code;
    size_t unit;

    if (OCULAR_UNLIKELY(!trace || !(nargsf & 2) ||
                        !is_from_top_frame(trace, state, args[0])))
        return step_slow(args, nargsf, Clock_counter());
    code = trace->top->code;
    unit = Call_unit(args[1]);
    if (OCULAR_UNLIKELY(unit >= code->layout.unit_count ||
                        !(at = instruction_at(code, unit)) ||
                        !ThreadTrace_is_fast_step(trace, at, depth, path)))
        return step_slow(args, nargsf, Clock_counter());
    ticks = Clock_counter();
    if (OCULAR_UNLIKELY(!ThreadTrace_is_brief(trace, ticks)))
        return step_slow(args, nargsf, ticks);
    ThreadTrace_step(trace, code, code->layout.units[unit].number, depth, ticks,
                     step_kind(unit), path);
    return Py_None;
}

// --- The callbacks' three paths --------------------------------------------

#define CALLBACK(name, expression)                                             \
    static PyObject *name(PyObject *self, PyObject *const *args,               \
                          size_t nargsf, PyObject *names)                      \
    {                                                                          \
        (void)self, (void)names;                                               \
        return expression;                                                     \
    }
#define NOW Clock_read(&ocular_state.engine.clock)

CALLBACK(on_enter_fast, enter(args, nargsf, false, PATH_FAST))
CALLBACK(on_resume_fast, enter(args, nargsf, true, PATH_FAST))
CALLBACK(on_leave_fast, leave(args, nargsf, PATH_FAST))
CALLBACK(on_jump_fast, jump(args, nargsf, HOOK_JUMP, 0, PATH_FAST))
CALLBACK(on_branch_fast, jump(args, nargsf, HOOK_BRANCH, 0, PATH_FAST))
CALLBACK(on_right_fast, jump(args, nargsf, HOOK_BRANCH, 1, PATH_FAST))
CALLBACK(on_step_fast, step(args, nargsf, PATH_FAST))

CALLBACK(on_enter_timeline, enter(args, nargsf, false, PATH_FAST_TIMELINE))
CALLBACK(on_resume_timeline, enter(args, nargsf, true, PATH_FAST_TIMELINE))
CALLBACK(on_leave_timeline, leave(args, nargsf, PATH_FAST_TIMELINE))
CALLBACK(on_jump_timeline, jump(args, nargsf, HOOK_JUMP, 0, PATH_FAST_TIMELINE))
CALLBACK(on_branch_timeline,
         jump(args, nargsf, HOOK_BRANCH, 0, PATH_FAST_TIMELINE))
CALLBACK(on_right_timeline,
         jump(args, nargsf, HOOK_BRANCH, 1, PATH_FAST_TIMELINE))
CALLBACK(on_step_timeline, step(args, nargsf, PATH_FAST_TIMELINE))

CALLBACK(on_enter_slow, enter_slow(args, nargsf, NOW))
CALLBACK(on_resume_slow, enter_slow(args, nargsf, NOW))
CALLBACK(on_leave_slow, leave_slow(args, nargsf, NOW))
CALLBACK(on_jump_slow, jump_slow(args, nargsf, NOW, HOOK_JUMP, 0))
CALLBACK(on_branch_slow, jump_slow(args, nargsf, NOW, HOOK_BRANCH, 0))
CALLBACK(on_right_slow, jump_slow(args, nargsf, NOW, HOOK_BRANCH, 1))
CALLBACK(on_step_slow, step_slow(args, nargsf, NOW))

#define CALLBACKS(path)                                                        \
    {                                                                          \
        [ON_START] = on_enter_##path, [ON_RESUME] = on_resume_##path,          \
        [ON_RETURN] = on_leave_##path, [ON_YIELD] = on_leave_##path,           \
        [ON_JUMP] = on_jump_##path, [ON_BRANCH] = on_branch_##path,            \
        [ON_BRANCH_LEFT] = on_branch_##path,                                   \
        [ON_BRANCH_RIGHT] = on_right_##path, [ON_UNWIND] = Rare_unwind,        \
        [ON_THROW] = Rare_throw, [ON_INSTRUCTION] = on_step_##path,            \
        [ON_CALL] = Rare_call,                                                 \
    }

const vectorcallfunc HOOK_FAST[HOOK_EVENTS] = CALLBACKS(fast);
const vectorcallfunc HOOK_TIMELINE[HOOK_EVENTS] = CALLBACKS(timeline);
const vectorcallfunc HOOK_SLOW[HOOK_EVENTS] = CALLBACKS(slow);
