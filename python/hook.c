// SPDX-License-Identifier: MIT
// The hot path's entry: one function an event, called by the interpreter on
// the traced thread with its lock held. A hook never raises, prints, locks or
// allocates (but a lane at first sight of a thread, a Code at first sight of a
// code object); it returns None or DISABLE, both immortal.
#include "python/hook.h"
#include "python/adopt.h"

#include <stddef.h>

#if PY_VERSION_HEX >= 0x030D0000
#define CURRENT_THREAD() PyThreadState_GetUnchecked()
#else
#define CURRENT_THREAD() _PyThreadState_UncheckedGet()
#endif

// glibc keeps a surplus of static TLS for libraries loaded later, and one
// pointer fits; elsewhere the default model is safe.
#ifdef __GLIBC__
#define LANE_TLS __attribute__((tls_model("initial-exec")))
#else
#define LANE_TLS
#endif

struct Hook {
    PyObject_HEAD vectorcallfunc call;
};

static _Thread_local struct Lane *own_lane LANE_TLS;
static pthread_key_t lane_key;
static pthread_once_t lane_once = PTHREAD_ONCE_INIT;

static void end_lane(void *lane)
{
    // Pairs with the acquire in lanes.c: this thread's last hook is over.
    atomic_store_explicit(&((struct Lane *)lane)->ended, true,
                          memory_order_release);
    own_lane = NULL;
}

static void make_lane_key(void)
{
    pthread_key_create(&lane_key, end_lane);
}

struct Lane *Hooks_lane(struct State *state, uint64_t ticks)
{
    struct Session *session = state->engine.session;

    if (own_lane)
        return own_lane;
    own_lane = Lanes_add(&state->engine.lanes, state->engine.registry,
                         &state->engine.contention, state->engine.cost,
                         session && session->timeline, ticks);
    if (own_lane) {
        pthread_once(&lane_once, make_lane_key);
        pthread_setspecific(lane_key, own_lane);
    }
    return own_lane;
}

struct Lane *Hooks_own_lane(void)
{
    return own_lane;
}

OCULAR_HOT uint32_t current_depth(void)
{
    const PyThreadState *thread = CURRENT_THREAD();

    return (uint32_t)(thread->py_recursion_limit -
                      thread->py_recursion_remaining);
}

uint32_t Hooks_depth(void)
{
    return current_depth();
}

// What every callback of the tracer begins with; false: nothing to do here.
struct Call {
    uint64_t ticks;
    struct Lane *lane;
    struct Code *code;
    size_t unit;
};

OCULAR_HOT bool begin(struct Call *call, PyObject *const *args, size_t nargsf)
{
    call->ticks = Clock_read(&ocular_state.engine.clock);
    if (OCULAR_UNLIKELY(PyVectorcall_NARGS(nargsf) < 2))
        return false;
    call->code = Adopt_find(&ocular_state, args[0]);
    if (OCULAR_UNLIKELY(!call->code))
        return false;
    call->unit =
        (size_t)PyUnstable_Long_CompactValue((PyLongObject *)args[1]) / 2;
    if (OCULAR_UNLIKELY(call->unit >= call->code->unit_count))
        return false;
    call->lane = own_lane;
    if (OCULAR_UNLIKELY(!call->lane))
        call->lane = Hooks_lane(&ocular_state, call->ticks);
    return call->lane != NULL;
}

static void mark_dark(struct Code *code, size_t unit)
{
    struct Site *site = Code_site(code, 2 * unit);

    if (site)
        atomic_store_explicit(&site->dark, 1, memory_order_relaxed);
}

static PyObject *on_enter(PyObject *self, PyObject *const *args, size_t nargsf,
                          PyObject *names)
{
    struct Call call;

    (void)self, (void)names;
    if (OCULAR_UNLIKELY(!begin(&call, args, nargsf)))
        return Py_None;
    if (OCULAR_LIKELY(!Lane_enter(call.lane, call.code, current_depth(),
                                  call.code->units[call.unit].number,
                                  call.ticks)))
        return Py_None;
    mark_dark(call.code, call.unit);
    return ocular_state.disable;
}

static PyObject *on_leave(PyObject *self, PyObject *const *args, size_t nargsf,
                          PyObject *names)
{
    struct Call call;
    unsigned index;

    (void)self, (void)names;
    if (OCULAR_UNLIKELY(!begin(&call, args, nargsf)))
        return Py_None;
    index = call.code->units[call.unit].site;
    return OCULAR_LIKELY(
               !Lane_leave(call.lane, call.code,
                           index ? &call.code->sites[index - 1] : NULL,
                           current_depth(), call.ticks))
               ? Py_None
               : ocular_state.disable;
}

OCULAR_HOT PyObject *jump(PyObject *const *args, size_t nargsf,
                          enum HookKind kind, unsigned arm)
{
    struct Call call;
    unsigned index;
    size_t to;

    if (OCULAR_UNLIKELY(PyVectorcall_NARGS(nargsf) < 3 ||
                        !begin(&call, args, nargsf)))
        return Py_None;
    index = call.code->units[call.unit].site;
    to = (size_t)PyUnstable_Long_CompactValue((PyLongObject *)args[2]) / 2;
    if (OCULAR_UNLIKELY(!index || to >= call.code->unit_count))
        return ocular_state.disable;
    return OCULAR_LIKELY(!Lane_jump(
               call.lane, call.code, &call.code->sites[index - 1 + arm],
               call.code->units[to].number, current_depth(), call.ticks, kind))
               ? Py_None
               : ocular_state.disable;
}

static PyObject *on_jump(PyObject *self, PyObject *const *args, size_t nargsf,
                         PyObject *names)
{
    (void)self, (void)names;
    return jump(args, nargsf, HOOK_JUMP, 0);
}

static PyObject *on_branch(PyObject *self, PyObject *const *args, size_t nargsf,
                           PyObject *names)
{
    (void)self, (void)names;
    return jump(args, nargsf, HOOK_BRANCH, 0);
}

static PyObject *on_branch_right(PyObject *self, PyObject *const *args,
                                 size_t nargsf, PyObject *names)
{
    (void)self, (void)names;
    return jump(args, nargsf, HOOK_BRANCH, 1);
}

// Exceptions leave through here, of excluded code too; never DISABLE.
static PyObject *on_unwind(PyObject *self, PyObject *const *args, size_t nargsf,
                           PyObject *names)
{
    struct Call call;

    (void)self, (void)names;
    if (begin(&call, args, nargsf))
        Lane_leave(call.lane, call.code, NULL, current_depth(), call.ticks);
    return Py_None;
}

// throw() and close() enter a suspended generator; never DISABLE.
static PyObject *on_throw(PyObject *self, PyObject *const *args, size_t nargsf,
                          PyObject *names)
{
    struct Call call;

    (void)self, (void)names;
    if (begin(&call, args, nargsf))
        Lane_enter(call.lane, call.code, current_depth(),
                   call.code->units[call.unit].number, call.ticks);
    return Py_None;
}

// First sight of a code object at one of its RESUMEs: classifies it, and is
// never called again from there. The tracer's own event of this very
// invocation was lost, its tools having been read before: it is made up here.
static PyObject *on_scout(PyObject *self, PyObject *const *args, size_t nargsf,
                          PyObject *names)
{
    struct Call call;
    struct Lane *lane = own_lane;

    (void)self, (void)names;
    call.ticks = Clock_read(&ocular_state.engine.clock);
    if (PyVectorcall_NARGS(nargsf) >= 2 && PyCode_Check(args[0]) &&
        ocular_state.phase == PHASE_TRACING &&
        Adopt_classify(&ocular_state, (PyCodeObject *)args[0]) &&
        begin(&call, args, nargsf)) {
        lane = call.lane;
        Lane_enter(lane, call.code, current_depth(),
                   call.code->units[call.unit].number, call.ticks);
    }
    // Looking at new code is our cost, not its caller's time.
    if (lane)
        Cell_add(&lane->debt, Clock_read(&ocular_state.engine.clock) -
                                  call.ticks -
                                  (uint64_t)lane->cost[HOOK_ENTER]);
    return ocular_state.disable;
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

static const vectorcallfunc CALLS[HOOK_EVENTS] = {
    [ON_START] = on_enter,        [ON_RESUME] = on_enter,
    [ON_RETURN] = on_leave,       [ON_YIELD] = on_leave,
    [ON_JUMP] = on_jump,          [ON_BRANCH] = on_branch,
    [ON_BRANCH_LEFT] = on_branch, [ON_BRANCH_RIGHT] = on_branch_right,
    [ON_UNWIND] = on_unwind,      [ON_THROW] = on_throw,
};

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
        state->hooks[i] = make(type, CALLS[i]);
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
