// SPDX-License-Identifier: MIT
// The hot path's entry: one function an event, called by the interpreter on
// the traced thread with its lock held. A hook never prints, and raises nothing
// of its own. Off its plain course it may allocate what grows (a lane, a Code,
// its callers, a histogram, the shadow stack), lock to take over a thread's
// name, and ask the kernel after a long span. It returns None or DISABLE, both
// immortal; or NULL, where hooks were timed and something else has raised there
// (time_again).
#include "python/hooks/hook.h"
#include "python/hooks/adopt.h"
#include "python/hooks/calibrate.h"
#include "python/hooks/callees.h"
#include "python/hooks/frames.h"
#include "python/hooks/interpreter.h"
#include "python/hooks/own_lane.h"
#include "python/hooks/thread_state.h"
#include "python/hooks/tools.h"

#include <stddef.h>

// At most so long takes what only few events need (2 to 10 us are usual), and
// each code object that is armed, and each unit of it.
#define PAY_MOST_S 50e-6
#define PAY_MOST_UNIT_S 100e-9

struct Hook {
    PyObject_HEAD vectorcallfunc call;
};

// What a callback knows of its event once it has looked.
struct Call {
    struct Lane *lane;
    struct Code *code;
    const PyThreadState *state;
    size_t unit;
    uint64_t ticks;
    uint32_t depth;
};

// An offset in bytes as a code unit. Offsets are small and never negative; what
// else a stranger may pass ends in a unit that is out of bounds, or of no use.
// That it is an int is not asked on the plain course (three more instructions
// of about a hundred): only who takes a hook out of sys.monitoring and calls it
// by hand can pass another object, of which a few bytes are read then, at worst
// those behind it (tests/python/test_hooks.py).
OCULAR_HOT size_t unit_of(PyObject *offset)
{
    return ((PyLongObject *)offset)->long_value.ob_digit[0] / 2;
}

// What had been paid, and armed, before something is done.
struct Paid {
    uint64_t debt, kept;
    struct Armed armed;
};

static struct Paid paid_by(const struct Lane *lane)
{
    struct Paid paid = {.armed = ocular_state.armed};

    if (lane) {
        paid.debt = Cell_own(&lane->debt);
        paid.kept = Cell_own(&lane->kept);
    }
    return paid;
}

// Ticks that were taken for what only few events need. They are no time of the
// program's. Nor are they a cost of ours, where that never takes so long: then
// others had the CPU.
static void pay(struct Lane *lane, const struct Paid *before, uint64_t taken)
{
    const struct Armed *armed = &ocular_state.armed;
    double most =
        PAY_MOST_S * (1 + (double)(armed->codes - before->armed.codes)) +
        PAY_MOST_UNIT_S * (double)(armed->units - before->armed.units);
    uint64_t ticks = (uint64_t)(most * Clock_hz(&ocular_state.engine.clock));

    Cell_add(&lane->debt, taken);
    if ((int64_t)taken > (int64_t)ticks)
        Cell_add(&lane->kept, taken - ticks);
}

// The same of all that was done since the event came, at `ticks`: what the lane
// has booked meanwhile is in it, and it may have asked the kernel.
static void pay_since(struct Lane *lane, const struct Paid *before,
                      uint64_t ticks, uint64_t taken)
{
    int64_t now = (int64_t)(ticks - before->debt);

    Cell_set(&lane->debt, before->debt);
    Cell_set(&lane->kept, before->kept);
    pay(lane, before, taken);
    if (lane->last > now)
        lane->last = now;
}

// The event comes from another stack than the last one, or from another part of
// the same.
static void follow(struct Call *call)
{
    const struct Clock *clock = &ocular_state.engine.clock;
    uint64_t begin = Clock_read(clock), ticks;
    struct Paid before = paid_by(call->lane);

    Frames_switch(call->lane, call->state, call->depth, call->ticks);
    ticks = Clock_read(clock);
    pay_since(call->lane, &before, call->ticks, ticks - begin);
    call->ticks += ticks - begin;
}

static bool is_timing(void)
{
    return own_lane && own_lane->stands_for;
}

// false: nothing to do here (not accepted, not a code object, no memory).
static bool look(struct Call *call, PyObject *const *args, size_t nargsf,
                 uint64_t ticks)
{
    struct Seen *seen;

    if (PyVectorcall_NARGS(nargsf) < 2)
        return false;
    call->code = Adopt_find(&ocular_state, args[0]);
    if (!call->code || !PyLong_Check(args[1]))
        return false;
    call->unit = unit_of(args[1]);
    // Hooks are being timed, and something else has come in between, a signal's
    // handler, say: that is off then, and what is left of it is not seen.
    if (OCULAR_UNLIKELY(call->code->probe != is_timing()) &&
        ocular_state.phase != PHASE_STARTING) {
        if (call->code->probe)
            return false;
        OwnLane_take_back();
    }
    call->lane = OwnLane_get(&ocular_state, ticks);
    if (!call->lane || call->unit >= call->code->unit_count)
        return false;
    if (OCULAR_UNLIKELY(call->lane->name_asks))
        Lanes_ask_name(&ocular_state.engine.lanes, call->lane);
    call->ticks = ticks;
    call->state = THREAD_STATE_CALL();
    call->depth = ThreadState_depth(call->state);
    if (call->depth == 0) // that of the sentinel, which is never closed
        call->depth = 1;
    if (call->lane->chunk != ThreadState_chunk(call->state))
        follow(call);
    seen = Lane_seen(call->lane, call->code->address);
    seen->address = call->code->address;
    seen->code = call->code;
    return true;
}

static void mark_dark(struct Code *code, size_t unit)
{
    struct Site *site = Code_site(code, 2 * unit);

    if (site)
        atomic_store_explicit(&site->dark, 1, memory_order_relaxed);
}

// --- Enter -----------------------------------------------------------------

// The call is to begin with its callees armed. What that takes is our cost, not
// the caller's time.
static void arm_callees(struct Call *call)
{
    const struct Clock *clock = &ocular_state.engine.clock;
    struct Paid before = paid_by(call->lane);
    uint64_t begin = Clock_read(clock), ticks;

    Adopt_arm_callees(&ocular_state, call->code);
    ticks = Clock_read(clock);
    pay(call->lane, &before, ticks - begin);
    call->ticks += ticks - begin;
}

// What the whole course and the rare events have in common.
static bool enter_call(struct Call *call)
{
    const struct Frame *caller = call->lane->top;

    if (OCULAR_UNLIKELY(call->code->callee_hits))
        arm_callees(call);
    if (caller->depth >= call->depth || call->code->last_caller != caller->id)
        Frames_settle(call->lane, call->code, call->state, call->depth,
                      call->ticks);
    return Lane_enter(call->lane, call->code, call->depth,
                      call->code->units[call->unit].number, call->ticks,
                      COURSE_WHOLE);
}

// The first and the last call of a visit: those that need not be timed.
static bool is_edge(const struct Code *code)
{
    return Cell_get(&code->calls) + 1 >= code->stop_at &&
           code->enter_hook == HOOK_ENTER;
}

// A visit begins here, or ends, in the midst of the program and in whatever
// state its CPU is: the place to time hooks again. Not where something resumes:
// between an await and what it awaits CPython lets nothing come in. The thread
// is in a callback, in which there are no events: it leaves that for as long.
// What it takes is our cost, not the program's time. False: what came in
// between has raised.
static bool time_again(struct Call *call)
{
    struct Calibration *calibration = ocular_state.calibration;
    PyThreadState *thread = PyThreadState_Get();
    struct Lane *own = own_lane;
    bool raised;

    own_lane = Calibration_begin(calibration, own);
    PyThreadState_LeaveTracing(thread);
    raised = Calibration_renew(calibration) < 0;
    PyThreadState_EnterTracing(thread);
    own_lane = own;
    Cell_add(&own->debt, Calibration_end(calibration));
    call->ticks = Clock_read(&ocular_state.engine.clock);
    return !raised;
}

__attribute__((noinline)) static PyObject *
enter_whole(PyObject *const *args, size_t nargsf, uint64_t ticks)
{
    struct Call call;

    if (!look(&call, args, nargsf, ticks))
        return Py_None;
    if (is_edge(call.code) &&
        Calibration_is_due(ocular_state.calibration, call.lane, call.state,
                           call.ticks)) {
        if (!time_again(&call))
            return NULL;
        // Tracing may have ended meanwhile, and begun again.
        if (!look(&call, args, nargsf, call.ticks))
            return Py_None;
    }
    if (!enter_call(&call))
        return Py_None;
    mark_dark(call.code, call.unit);
    return ocular_state.disable;
}

OCULAR_HOT PyObject *enter(PyObject *const *args, size_t nargsf,
                           enum Course course)
{
    const PyThreadState *state = ThreadState_fast();
    uint32_t depth = ThreadState_depth(state);
    uint64_t ticks;
    struct Lane *lane = own_lane;
    const struct Seen *seen;
    size_t unit;

    if (OCULAR_UNLIKELY(!lane || !(nargsf & 2) ||
                        lane->chunk != ThreadState_chunk(state)))
        return enter_whole(args, nargsf, Clock_counter());
    seen = Lane_seen(lane, (uintptr_t)args[0]);
    unit = unit_of(args[1]);
    if (OCULAR_UNLIKELY(seen->address != (uintptr_t)args[0] ||
                        unit >= seen->code->unit_count ||
                        !Lane_plain_enter(lane, seen->code, depth, course)))
        return enter_whole(args, nargsf, Clock_counter());
    ticks = Clock_counter();
    if (OCULAR_UNLIKELY(!Lane_is_brief(lane, ticks)))
        return enter_whole(args, nargsf, ticks);
    Lane_enter(lane, seen->code, depth, seen->code->units[unit].number, ticks,
               course);
    return Py_None;
}

// --- Leave -----------------------------------------------------------------

OCULAR_HOT struct Site *site_at(const struct Code *code, size_t unit)
{
    unsigned index = code->units[unit].site;

    return OCULAR_LIKELY(index) ? &code->sites[index - 1] : NULL;
}

// It may be the one at which a histogram is made, which takes many times what a
// hook does, and is no part of it.
static bool leave_first(struct Call *call, struct Site *site)
{
    struct Lane *lane = call->lane;
    struct Paid before = paid_by(lane);
    bool disable = Lane_leave(lane, call->code, site, call->depth, call->ticks,
                              COURSE_WHOLE);

    if (Code_histogram(call->code))
        pay_since(lane, &before, call->ticks,
                  Clock_read(&ocular_state.engine.clock) - call->ticks +
                      (uint64_t)lane->cost[Lane_leave_kind(call->code, site)]);
    return disable;
}

static bool leave_call(struct Call *call, struct Site *site)
{
    if (OCULAR_UNLIKELY(!Code_histogram(call->code)))
        return leave_first(call, site);
    return Lane_leave(call->lane, call->code, site, call->depth, call->ticks,
                      COURSE_WHOLE);
}

__attribute__((noinline)) static PyObject *
leave_whole(PyObject *const *args, size_t nargsf, uint64_t ticks)
{
    struct Call call;

    if (!look(&call, args, nargsf, ticks) ||
        !leave_call(&call, site_at(call.code, call.unit)))
        return Py_None;
    return ocular_state.disable;
}

OCULAR_HOT PyObject *leave(PyObject *const *args, size_t nargsf,
                           enum Course course)
{
    const PyThreadState *state = ThreadState_fast();
    uint32_t depth = ThreadState_depth(state);
    uint64_t ticks;
    struct Lane *lane = own_lane;
    struct Site *site;
    struct Code *code;
    size_t unit;

    if (OCULAR_UNLIKELY(!lane || !(nargsf & 2) ||
                        lane->chunk != ThreadState_chunk(state) ||
                        lane->top->address != (uintptr_t)args[0]))
        return leave_whole(args, nargsf, Clock_counter());
    code = lane->top->code;
    unit = unit_of(args[1]);
    if (OCULAR_UNLIKELY(unit >= code->unit_count ||
                        !(site = site_at(code, unit)) ||
                        !Lane_plain_leave(lane, code, depth, course)))
        return leave_whole(args, nargsf, Clock_counter());
    ticks = Clock_counter();
    if (OCULAR_UNLIKELY(!Lane_is_brief(lane, ticks)))
        return leave_whole(args, nargsf, ticks);
    Lane_leave(lane, code, site, depth, ticks, course);
    return Py_None;
}

// --- Jump ------------------------------------------------------------------

__attribute__((noinline)) static PyObject *
jump_whole(PyObject *const *args, size_t nargsf, uint64_t ticks,
           enum HookKind kind, unsigned arm)
{
    struct Call call;
    struct Site *site;
    size_t to;

    if (PyVectorcall_NARGS(nargsf) < 3 || !look(&call, args, nargsf, ticks) ||
        !PyLong_Check(args[2]))
        return Py_None;
    site = site_at(call.code, call.unit);
    to = unit_of(args[2]);
    if (!site || to >= call.code->unit_count)
        return ocular_state.disable;
    return Lane_jump(call.lane, call.code, site + arm,
                     call.code->units[to].number, call.depth, call.ticks, kind,
                     COURSE_WHOLE)
               ? ocular_state.disable
               : Py_None;
}

OCULAR_HOT PyObject *jump(PyObject *const *args, size_t nargsf,
                          enum HookKind kind, unsigned arm, enum Course course)
{
    const PyThreadState *state = ThreadState_fast();
    uint32_t depth = ThreadState_depth(state);
    uint64_t ticks;
    struct Lane *lane = own_lane;
    struct Site *site;
    struct Code *code;
    size_t unit, to;

    if (OCULAR_UNLIKELY(!lane || (nargsf & 3) != 3 ||
                        lane->chunk != ThreadState_chunk(state) ||
                        lane->top->address != (uintptr_t)args[0]))
        return jump_whole(args, nargsf, Clock_counter(), kind, arm);
    code = lane->top->code;
    unit = unit_of(args[1]);
    to = unit_of(args[2]);
    if (OCULAR_UNLIKELY(unit >= code->unit_count || to >= code->unit_count ||
                        !(site = site_at(code, unit)) ||
                        !Lane_plain_jump(lane, site + arm, depth, course)))
        return jump_whole(args, nargsf, Clock_counter(), kind, arm);
    ticks = Clock_counter();
    if (OCULAR_UNLIKELY(!Lane_is_brief(lane, ticks)))
        return jump_whole(args, nargsf, ticks, kind, arm);
    Lane_jump(lane, code, site + arm, code->units[to].number, depth, ticks,
              kind, course);
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
    struct Instruction *all = code->instructions;
    struct Instruction *at = all + code->units[unit].number;

    return OCULAR_LIKELY(all && at->unit == unit) ? at : NULL;
}

__attribute__((noinline)) static PyObject *
step_whole(PyObject *const *args, size_t nargsf, uint64_t ticks)
{
    struct Call call;

    if (!look(&call, args, nargsf, ticks))
        return Py_None;
    if (!instruction_at(call.code, call.unit)) {
        Lane_lose_step(call.lane); // taking the hook out takes its time
        return ocular_state.disable;
    }
    return Lane_step(call.lane, call.code, call.code->units[call.unit].number,
                     call.depth, call.ticks, step_kind(call.unit), COURSE_WHOLE)
               ? ocular_state.disable
               : Py_None;
}

OCULAR_HOT PyObject *step(PyObject *const *args, size_t nargsf,
                          enum Course course)
{
    const PyThreadState *state = ThreadState_fast();
    uint32_t depth = ThreadState_depth(state);
    uint64_t ticks;
    struct Lane *lane = own_lane;
    struct Instruction *at;
    struct Code *code;
    size_t unit;

    if (OCULAR_UNLIKELY(!lane || !(nargsf & 2) ||
                        lane->chunk != ThreadState_chunk(state) ||
                        lane->top->address != (uintptr_t)args[0]))
        return step_whole(args, nargsf, Clock_counter());
    code = lane->top->code;
    unit = unit_of(args[1]);
    if (OCULAR_UNLIKELY(unit >= code->unit_count ||
                        !(at = instruction_at(code, unit)) ||
                        !Lane_plain_step(lane, at, depth, course)))
        return step_whole(args, nargsf, Clock_counter());
    ticks = Clock_counter();
    if (OCULAR_UNLIKELY(!Lane_is_brief(lane, ticks)))
        return step_whole(args, nargsf, ticks);
    Lane_step(lane, code, code->units[unit].number, depth, ticks,
              step_kind(unit), course);
    return Py_None;
}

// --- The rare ones ---------------------------------------------------------

// From 3.15 on these two are local events, of accepted code, and can be
// disabled; before, they are global, and DISABLE would raise (tools.c).
static PyObject *unless_dark(const struct Code *code)
{
#if PY_VERSION_HEX >= 0x030F0000
    if (code->dark)
        return ocular_state.disable;
#endif
    (void)code;
    return Py_None;
}

// An exception leaves through here.
static PyObject *on_unwind(PyObject *self, PyObject *const *args, size_t nargsf,
                           PyObject *names)
{
    struct Call call;

    (void)self, (void)names;
    if (!look(&call, args, nargsf, Clock_read(&ocular_state.engine.clock)))
        return Py_None;
    leave_call(&call, NULL);
    return unless_dark(call.code);
}

// throw() and close() enter a suspended generator; so does its early end, as in
// any(), on 3.12. From 3.13 on CPython ends a generator without this event
// where it is not suspended inside a try or with block. Nothing is known of a
// dark one that this could go on with; but where the event cannot be local, it
// comes all the same, and is accounted for (docs/overhead.md).
static PyObject *on_throw(PyObject *self, PyObject *const *args, size_t nargsf,
                          PyObject *names)
{
    const struct Code *code;
    struct Call call;

    (void)self, (void)names;
    if (PyVectorcall_NARGS(nargsf) < 2)
        return Py_None;
    code = Adopt_find(&ocular_state, args[0]);
    if (!code || code->dark) {
        if (own_lane)
            Cell_add(&own_lane->debt,
                     (uint64_t)own_lane->cost[HOOK_DARK_THROW]);
        return code ? unless_dark(code) : Py_None;
    }
    if (look(&call, args, nargsf, Clock_read(&ocular_state.engine.clock)))
        enter_call(&call);
    return unless_dark(code);
}

// A call instruction is about to call for the first time since it was armed.
static PyObject *on_call(PyObject *self, PyObject *const *args, size_t nargsf,
                         PyObject *names)
{
    const struct Clock *clock = &ocular_state.engine.clock;
    uint64_t ticks = Clock_read(clock);
    struct Paid before = paid_by(own_lane);
    struct Code *code;

    (void)self, (void)names;
    if (PyVectorcall_NARGS(nargsf) >= 3 &&
        (code = Adopt_find(&ocular_state, args[0])))
        Callees_note(&ocular_state, code, args[2]);
    // Looking at what is called is our cost, not its caller's time.
    if (own_lane)
        pay(own_lane, &before, Clock_read(clock) - ticks);
    return ocular_state.disable;
}

// Does nothing show the call whose scout's event this is? Tools are called from
// the highest id down: had the tracer's been called, its frame would be on top.
static bool is_missed(const struct Call *call)
{
    const struct Frame *top = call->lane->top;

    return !call->code->dark &&
           (top->code != call->code || top->depth != call->depth);
}

// A call of code that is not armed: counted only, the first time, so that code
// that runs once is never armed. The second arms it where that can be afforded;
// else the governor does, once samples say that it is worth knowing. true: the
// scout need not see it again.
static bool meet_unarmed(struct Call *call)
{
    struct State *state = &ocular_state;
    struct Session *session = state->engine.session;
    struct Code *code = call->code;
    bool again = Cell_get(&code->calls) > 0;

    if (again &&
        atomic_load_explicit(&session->arm_new, memory_order_relaxed) &&
        Adopt_rearm(state, code,
                    atomic_load_explicit(&session->first_hits,
                                         memory_order_relaxed)) == 0) {
        enter_call(call);
        return true;
    }
    Cell_add(&code->calls, 1);
    Cell_set(&code->last_seen, call->ticks);
    Frames_settle(call->lane, code, call->state, call->depth, call->ticks);
    if (code->last_caller != call->lane->top->id)
        Lane_note_caller(call->lane, code);
    atomic_store_explicit(&code->again, again, memory_order_relaxed);
    return again;
}

// First sight of a code object at one of its RESUMEs: classifies it, and is
// never called again from there, but after another tool's restart_events(). The
// tracer's own event of this very invocation was lost, its tools having been
// read before: it is made up here. So it is where another thread has come first
// meanwhile, while a tool in Python (sys.settrace's function) was called for
// the same event.
static PyObject *on_scout(PyObject *self, PyObject *const *args, size_t nargsf,
                          PyObject *names)
{
    const struct Clock *clock = &ocular_state.engine.clock;
    uint64_t ticks = Clock_read(clock);
    struct Lane *lane = own_lane;
    struct Paid before = paid_by(lane);
    struct Call call;
    bool done = true;

    (void)self, (void)names;
    if (PyVectorcall_NARGS(nargsf) < 2 || !PyCode_Check(args[0]) ||
        ocular_state.phase != PHASE_TRACING) {
        ;
    } else if (Adopt_put_off(&ocular_state, (PyCodeObject *)args[0])) {
        done = false;
    } else {
        bool first = Adopt_classify(&ocular_state, (PyCodeObject *)args[0]);

        Tools_restore(&ocular_state, (PyCodeObject *)args[0]);
        if (!look(&call, args, nargsf, ticks))
            ;
        else if (call.code->unarmed)
            done = meet_unarmed(&call);
        else if (first || is_missed(&call))
            enter_call(&call);
    }
    // Looking at new code is our cost, not its caller's time. A thread that had
    // no lane until now has paid nothing.
    if (own_lane && (!lane || own_lane == lane))
        pay_since(own_lane, &before, ticks, Clock_read(clock) - ticks);
    return done ? ocular_state.disable : Py_None;
}

static PyMemberDef members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(struct Hook, call),
     Py_READONLY, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, members},
    {Py_tp_doc, (char *)"A callback of Ocular's for sys.monitoring."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "ocular._ocular.Hook",
    .basicsize = sizeof(struct Hook),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

// --- The callbacks' three courses ------------------------------------------

#define CALLBACK(name, expression)                                             \
    static PyObject *name(PyObject *self, PyObject *const *args,               \
                          size_t nargsf, PyObject *names)                      \
    {                                                                          \
        (void)self, (void)names;                                               \
        return expression;                                                     \
    }
#define NOW Clock_read(&ocular_state.engine.clock)

CALLBACK(on_enter_plain, enter(args, nargsf, COURSE_PLAIN))
CALLBACK(on_leave_plain, leave(args, nargsf, COURSE_PLAIN))
CALLBACK(on_jump_plain, jump(args, nargsf, HOOK_JUMP, 0, COURSE_PLAIN))
CALLBACK(on_branch_plain, jump(args, nargsf, HOOK_BRANCH, 0, COURSE_PLAIN))
CALLBACK(on_right_plain, jump(args, nargsf, HOOK_BRANCH, 1, COURSE_PLAIN))
CALLBACK(on_step_plain, step(args, nargsf, COURSE_PLAIN))

CALLBACK(on_enter_timeline, enter(args, nargsf, COURSE_PLAIN_TIMELINE))
CALLBACK(on_leave_timeline, leave(args, nargsf, COURSE_PLAIN_TIMELINE))
CALLBACK(on_jump_timeline,
         jump(args, nargsf, HOOK_JUMP, 0, COURSE_PLAIN_TIMELINE))
CALLBACK(on_branch_timeline,
         jump(args, nargsf, HOOK_BRANCH, 0, COURSE_PLAIN_TIMELINE))
CALLBACK(on_right_timeline,
         jump(args, nargsf, HOOK_BRANCH, 1, COURSE_PLAIN_TIMELINE))
CALLBACK(on_step_timeline, step(args, nargsf, COURSE_PLAIN_TIMELINE))

CALLBACK(on_enter_whole, enter_whole(args, nargsf, NOW))
CALLBACK(on_leave_whole, leave_whole(args, nargsf, NOW))
CALLBACK(on_jump_whole, jump_whole(args, nargsf, NOW, HOOK_JUMP, 0))
CALLBACK(on_branch_whole, jump_whole(args, nargsf, NOW, HOOK_BRANCH, 0))
CALLBACK(on_right_whole, jump_whole(args, nargsf, NOW, HOOK_BRANCH, 1))
CALLBACK(on_step_whole, step_whole(args, nargsf, NOW))

#define CALLBACKS(course)                                                      \
    {                                                                          \
        [ON_START] = on_enter_##course, [ON_RESUME] = on_enter_##course,       \
        [ON_RETURN] = on_leave_##course, [ON_YIELD] = on_leave_##course,       \
        [ON_JUMP] = on_jump_##course, [ON_BRANCH] = on_branch_##course,        \
        [ON_BRANCH_LEFT] = on_branch_##course,                                 \
        [ON_BRANCH_RIGHT] = on_right_##course, [ON_UNWIND] = on_unwind,        \
        [ON_THROW] = on_throw, [ON_INSTRUCTION] = on_step_##course,            \
        [ON_CALL] = on_call,                                                   \
    }

static const vectorcallfunc PLAIN[HOOK_EVENTS] = CALLBACKS(plain);
static const vectorcallfunc TIMELINE[HOOK_EVENTS] = CALLBACKS(timeline);
// Where the CPU's counter or the place of the thread state cannot be relied on.
static const vectorcallfunc WHOLE[HOOK_EVENTS] = CALLBACKS(whole);

static PyObject *leave_for_good(PyObject *self, PyObject *const *args,
                                size_t nargsf, PyObject *names)
{
    (void)self, (void)args, (void)nargsf, (void)names;
    ocular_state.silenced_met();
    return ocular_state.disable;
}

// CPython does not let a callback disable these.
static PyObject *do_nothing(PyObject *self, PyObject *const *args,
                            size_t nargsf, PyObject *names)
{
    (void)self, (void)args, (void)nargsf, (void)names;
    return Py_None;
}

void Hooks_silence(struct State *state, void (*met)(void))
{
    int i;

    state->silenced_met = met;
    for (i = 0; i < HOOK_EVENTS; i++)
        ((struct Hook *)state->hooks[i])->call =
            i == ON_UNWIND || i == ON_THROW ? do_nothing : leave_for_good;
}

void Hooks_select(struct State *state, bool timeline)
{
    bool fast = state->engine.clock.counter && ThreadState_is_found();
    const vectorcallfunc *calls = !fast ? WHOLE : timeline ? TIMELINE : PLAIN;
    int i;

    for (i = 0; i < HOOK_EVENTS; i++)
        ((struct Hook *)state->hooks[i])->call = calls[i];
}

static PyObject *make(PyTypeObject *type, vectorcallfunc call)
{
    struct Hook *hook = PyObject_New(struct Hook, type);

    if (hook)
        hook->call = call;
    return (PyObject *)hook;
}

int Hooks_init(struct State *state)
{
    PyTypeObject *type = (PyTypeObject *)PyType_FromSpec(&spec);
    int i, result = -1;

    if (!type)
        return -1;
    for (i = 0; i < HOOK_EVENTS; i++) {
        state->hooks[i] = make(type, PLAIN[i]);
        if (!state->hooks[i])
            goto done;
    }
    state->scout_hook = make(type, on_scout);
    if (state->scout_hook)
        result = 0;
done:
    Py_DECREF(type);
    return result;
}
