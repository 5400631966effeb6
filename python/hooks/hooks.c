// SPDX-License-Identifier: MIT
#include "python/hooks/hooks.h"
#include "python/hooks/adopt.h"
#include "python/hooks/c_functions.h"
#include "python/hooks/garbage_watch.h"
#include "python/hooks/hook.h"
#include "python/hooks/loop_steps.h"
#include "python/hooks/raise_watch.h"
#include "python/hooks/rare.h"
#include "python/hooks/thread_state.h"
#include "python/hooks/tools.h"

#include <stddef.h>

// If the threshold is below FEW_HITS, hooks count each event at once, because
// the threshold would be reached long before the hits in the ring are counted.
#define FEW_HITS 16

struct Hook {
    PyObject_HEAD vectorcallfunc call;
};

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

static PyObject *leave_for_good(PyObject *self, PyObject *const *args,
                                size_t nargsf, PyObject *names)
{
    (void)self, (void)args, (void)nargsf, (void)names;
    ocular_state.on_silenced();
    return ocular_state.disable;
}

// The discovery hook after Hooks_silence. The silenced discovery hook leaves
// the event enabled, so that the next session sees the code.
static PyObject *leave_for_now(PyObject *self, PyObject *const *args,
                               size_t nargsf, PyObject *names)
{
    (void)self, (void)args, (void)nargsf, (void)names;
    if (PyErr_Occurred()) // rare.h says why
        return NULL;
    ocular_state.on_silenced();
    return Py_None;
}

// The hook of PY_UNWIND, PY_THROW, RAISE, C_RETURN and C_RAISE after
// Hooks_silence. CPython does not let a callback disable these events.
static PyObject *do_nothing(PyObject *self, PyObject *const *args,
                            size_t nargsf, PyObject *names)
{
    (void)self, (void)args, (void)nargsf, (void)names;
    return PyErr_Occurred() ? NULL : Py_None;
}

void Hooks_silence(struct State *state, void (*on_event)(void))
{
    int i;

    state->on_silenced = on_event;
    for (i = 0; i < HOOK_EVENTS; i++)
        ((struct Hook *)state->hooks[i])->call =
            i == ON_UNWIND || i == ON_THROW || i >= ON_RAISE ? do_nothing
                                                             : leave_for_good;
    ((struct Hook *)state->discovery_hook)->call = leave_for_now;
    ((struct Hook *)state->step_hook)->call = leave_for_good;
}

void Hooks_select(struct State *state, uint64_t threshold)
{
    bool fast = state->engine.clock.counter && ThreadState_is_found() &&
                (threshold == 0 || threshold >= FEW_HITS);
    const vectorcallfunc *calls = fast ? HOOK_FAST : HOOK_SLOW;
    int i;

    state->fast = fast;
    for (i = 0; i < HOOK_EVENTS; i++)
        ((struct Hook *)state->hooks[i])->call = calls[i];
    ((struct Hook *)state->discovery_hook)->call = Rare_discover;
    ((struct Hook *)state->step_hook)->call = LoopSteps_end;
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
        state->hooks[i] = make(type, HOOK_FAST[i]);
        if (!state->hooks[i])
            goto done;
    }
    state->discovery_hook = make(type, Rare_discover);
    state->step_hook = make(type, LoopSteps_end);
    if (state->discovery_hook && state->step_hook)
        result = 0;
done:
    Py_DECREF(type);
    return result;
}

void Hooks_remove(struct State *state)
{
    state->phase = PHASE_STOPPING;
    GarbageWatch_stop(state);
    LoopSteps_stop(state);
    Tools_disarm(state);
    if (state->tool_ids[TOOL_TRACER] && Adopt_disarm(state) < 0)
        PyErr_Clear();
    Tools_close(state);
    RaiseWatch_stop(state);
}

void Hooks_forget(struct State *state)
{
    state->look_next = state->slice_next = NULL;
    if (Adopt_drop_all(state) < 0)
        PyErr_Clear();
    CFunctions_stop(state);
    TaskNumbers_clear(&state->tasks);
    Filter_release(&state->filter);
}
