// SPDX-License-Identifier: MIT
// All calls go through the builtins of sys.monitoring, because CPython exports
// no C functions for them.
#include "python/hooks/tools.h"
#include "ipc/base/now.h"

// Names of the events, in the order of enum HookEvent.
static const char *const EVENT_NAMES[HOOK_EVENTS] = {
    "PY_START",  "PY_RESUME", "PY_RETURN",   "PY_YIELD",
    "JUMP",      "BRANCH",    "BRANCH_LEFT", "BRANCH_RIGHT",
    "PY_UNWIND", "PY_THROW",  "INSTRUCTION", "CALL",
    "LINE",      "RAISE",     "C_RETURN",    "C_RAISE",
};

// Before 3.15 PY_UNWIND is global and cannot be disabled, and also fires for
// frames of excluded and dark code. A program that does nothing but raise
// exceptions would run a fifth longer (docs/overhead.md). The governor checks
// the number of events every one or two seconds. After UNWINDS_MOST events
// between two checks, PY_UNWIND is switched off for UNWIND_OFF_S seconds.
// Meanwhile the depth of a later event shows which frames an exception has
// left.
#define UNWINDS_MOST 5000
#define UNWIND_OFF_S 60.0

// PY_UNWIND and PY_THROW can be local from 3.15 on.
#if PY_VERSION_HEX >= 0x030F0000
#define UNWIND_IS_LOCAL 1
#else
#define UNWIND_IS_LOCAL 0
#endif

// The tool ids that Ocular may take.
#define FIRST_ID 3
#define LAST_ID 5

// Returns true if the tracer uses an event in this session. In precise mode
// jumps and branches need no event, because the next instruction's event shows
// the destination. The CALL event is needed only if code can go dark, or for C
// functions.
static bool is_used(const struct State *state, int event)
{
    switch (event) {
    case ON_JUMP:
    case ON_BRANCH:
    case ON_BRANCH_LEFT:
    case ON_BRANCH_RIGHT:
        return state->chosen & CHOSEN_BRANCH && !state->precise;
    case ON_INSTRUCTION:
        return state->precise;
    case ON_LINE:
        return state->chosen & CHOSEN_LINE;
    case ON_CALL:
        return state->can_darken || state->sees_c;
    case ON_RAISE:
        return state->chosen & CHOSEN_EXCEPTION;
    case ON_C_RETURN:
    case ON_C_RAISE:
        return state->sees_c;
    default:
        return true;
    }
}

// Returns the tracer's events on accepted code, as a Python int.
static PyObject *local_events(const struct State *state, bool jumps, bool lines,
                              bool calls)
{
    long mask = 0;
    int i;

    for (i = 0; i < HOOK_EVENTS; i++) {
        bool rare = i == ON_UNWIND || i == ON_THROW;
        bool jump = i >= ON_JUMP && i <= ON_BRANCH_RIGHT;
        bool call = i == ON_CALL || i >= ON_C_RETURN;

        if (is_used(state, i) && !(rare && !UNWIND_IS_LOCAL) &&
            !(jump && !jumps) && !(i == ON_LINE && !lines) &&
            !(call && !calls) && i != ON_RAISE)
            mask |= state->event_bits[i];
    }
    return PyLong_FromLong(mask);
}

static int read_events(struct State *state, PyObject *monitoring)
{
    PyObject *events = PyObject_GetAttrString(monitoring, "events");
    int i;

    if (!events)
        return -1;
    for (i = 0; i < HOOK_EVENTS; i++) {
        PyObject *bit = PyObject_GetAttrString(events, EVENT_NAMES[i]);

        if (!bit)
            PyErr_Clear();
        state->event_bits[i] = bit ? PyLong_AsLong(bit) : 0;
        Py_XDECREF(bit);
    }
    Py_DECREF(events);
    state->engine.two_arms = state->event_bits[ON_BRANCH_LEFT] != 0;
    // BRANCH is only a slow alias of BRANCH_LEFT and BRANCH_RIGHT
    if (state->engine.two_arms)
        state->event_bits[ON_BRANCH] = 0;
    return PyErr_Occurred() ? -1 : 0;
}

static int read_functions(struct State *state, PyObject *monitoring)
{
    const struct {
        const char *name;
        PyObject **slot;
    } functions[] = {
        {"use_tool_id", &state->use_tool_id},
        {"free_tool_id", &state->free_tool_id},
        {"get_tool", &state->get_tool},
        {"get_events", &state->get_events},
        {"register_callback", &state->register_callback},
        {"set_events", &state->set_events},
        {"set_local_events", &state->set_local_events},
        {"DISABLE", &state->disable},
    };
    size_t i;

    for (i = 0; i < sizeof functions / sizeof *functions; i++) {
        *functions[i].slot =
            PyObject_GetAttrString(monitoring, functions[i].name);
        if (!*functions[i].slot)
            return -1;
    }
    return 0;
}

int Tools_init(struct State *state)
{
    PyObject *monitoring = PySys_GetObject("monitoring"); // borrowed

    if (!monitoring) {
        PyErr_SetString(PyExc_ImportError,
                        "sys.monitoring is missing: Ocular needs CPython "
                        "3.12 or newer");
        return -1;
    }
    if (read_functions(state, monitoring) < 0 ||
        read_events(state, monitoring) < 0)
        return -1;
    state->no_events = PyLong_FromLong(0);
    // sys.monitoring keeps the name objects. By the addresses of the name
    // objects, Ocular's ids are distinguished from those of another tool with
    // the same name.
    state->tool_names[0] = PyUnicode_FromString("ocular-discovery");
    state->tool_names[1] = PyUnicode_FromString("ocular");
    return state->no_events && state->tool_names[0] && state->tool_names[1]
               ? 0
               : -1;
}

int Tools_choose(struct State *state, const struct Config *config)
{
    int i;

    state->precise = strcmp(config->mode, "precise") == 0;
    state->chosen = config->events;
    state->can_darken = config->threshold;
    state->sees_c = config->events & CHOSEN_C_CALL;
    state->counts_c = state->sees_c && !config->threshold;
    state->shows_instructions = state->precise && config->instructions;
    for (i = 0; i < 6; i++)
        Py_XSETREF(state->local_events[i / 2][i % 2],
                   local_events(state, i > 1, i > 3, i % 2));
    Py_XSETREF(state->call_event,
               PyLong_FromLong(
                   is_used(state, ON_CALL) ? state->event_bits[ON_CALL] : 0));
    return PyErr_Occurred() ? -1 : 0;
}

static int call(PyObject *function, const char *format, ...)
{
    PyObject *arguments, *result = NULL;
    va_list list;

    va_start(list, format);
    arguments = Py_VaBuildValue(format, list);
    va_end(list);
    if (arguments)
        result = PyObject_CallObject(function, arguments);
    Py_XDECREF(arguments);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

// Raises an exception that names the tools which hold the ids. `holders` is a
// list of texts.
static void raise_no_ids(PyObject *holders)
{
    PyObject *comma = PyUnicode_FromString(", ");
    PyObject *text = comma ? PyUnicode_Join(comma, holders) : NULL;

    if (text)
        PyErr_Format(PyExc_RuntimeError,
                     "Ocular needs two of the sys.monitoring tool ids 3, 4 "
                     "and 5; in use: %U. Stop the other tool first",
                     text);
    Py_XDECREF(comma);
    Py_XDECREF(text);
}

// Takes a tool id if it is free and a tool of Ocular has none, and otherwise
// adds a text about the tool that holds the id to the list `holders`. Returns
// 0, or -1 with an exception.
static int try_id(struct State *state, int number, PyObject *holders)
{
    enum Tool tool =
        state->tool_ids[TOOL_DISCOVERY] ? TOOL_TRACER : TOOL_DISCOVERY;
    PyObject *id = PyLong_FromLong(number);
    PyObject *name = id ? PyObject_CallOneArg(state->get_tool, id) : NULL;
    PyObject *text = NULL;
    int result = name ? 0 : -1;

    if (name && !Py_IsNone(name)) {
        text = PyUnicode_FromFormat("%d by %R", number, name);
        result = text ? PyList_Append(holders, text) : -1;
    } else if (name && !state->tool_ids[tool]) {
        result = call(state->use_tool_id, "(OO)", id, state->tool_names[tool]);
        if (result == 0)
            state->tool_ids[tool] = Py_NewRef(id);
        state->held[tool] = result == 0;
    }
    Py_XDECREF(text);
    Py_XDECREF(name);
    Py_XDECREF(id);
    return result;
}

static int take_ids(struct State *state)
{
    PyObject *holders = PyList_New(0);
    int result = holders ? 0 : -1;

    for (int id = FIRST_ID; result == 0 && id <= LAST_ID; id++)
        result = try_id(state, id, holders);
    if (result == 0 && !state->tool_ids[TOOL_TRACER]) {
        raise_no_ids(holders);
        result = -1;
    }
    Py_XDECREF(holders);
    return result;
}

// Returns the name of the tool that holds the id of `tool` now, which may be
// None, or NULL if memory is out. The name may only be compared.
static const PyObject *holder(const struct State *state, enum Tool tool)
{
    PyObject *name =
        PyObject_CallOneArg(state->get_tool, state->tool_ids[tool]);

    PyErr_Clear();
    Py_XDECREF(name);
    return name;
}

// Returns true if Ocular still holds the tool's id. The holder is checked
// before each change, because the governor checks it only from time to time.
static bool holds(struct State *state, enum Tool tool)
{
    const PyObject *name = state->held[tool] ? holder(state, tool) : NULL;

    if (name && name != state->tool_names[tool]) {
        state->held[tool] = false;
        state->ids_lost = true;
    }
    return name && state->held[tool];
}

void Tools_watch(struct State *state)
{
    holds(state, TOOL_DISCOVERY);
    holds(state, TOOL_TRACER);
}

// Returns the tool's global events, or a negative number if memory is out.
static long events_of(struct State *state, enum Tool tool)
{
    PyObject *events =
        PyObject_CallOneArg(state->get_events, state->tool_ids[tool]);
    long result = events ? PyLong_AsLong(events) : -1;

    Py_XDECREF(events);
    PyErr_Clear();
    return result;
}

// Takes a tool id of Ocular again if the id was freed and no other tool has
// taken it since. Up to 3.13 all of Ocular's events are still set on the freed
// id. Returns true on success.
static bool regain(struct State *state, enum Tool tool)
{
    if (holder(state, tool) == Py_None)
        state->held[tool] =
            call(state->use_tool_id, "(OO)", state->tool_ids[tool],
                 state->tool_names[tool]) == 0;
    PyErr_Clear();
    return state->held[tool];
}

// Returns the hook that a tool has for an event, or NULL.
static PyObject *hook_of(const struct State *state, enum Tool tool, int event)
{
    if (!state->event_bits[event])
        return NULL;
    if (tool == TOOL_TRACER)
        return state->dropped[event] ? NULL : state->hooks[event];
    if (event <= ON_RESUME)
        return state->discovery_hook;
    return event <= ON_YIELD ? state->step_hook : NULL;
}

// Registers a hook, or clears it if `hook` is None. Returns 0, or -1 with an
// exception.
static int set_hook(struct State *state, enum Tool tool, int event,
                    PyObject *hook)
{
    return call(state->register_callback, "(OlO)", state->tool_ids[tool],
                state->event_bits[event], hook);
}

static int register_hooks(struct State *state)
{
    memset(state->dropped, 0, sizeof state->dropped);
    for (enum Tool tool = 0; tool < TOOLS; tool++)
        for (int event = 0; event < HOOK_EVENTS; event++) {
            PyObject *hook = hook_of(state, tool, event);

            if (hook && set_hook(state, tool, event, hook) < 0)
                return -1;
        }
    return 0;
}

int Tools_open(struct State *state)
{
    state->ids_lost = false;
    if (take_ids(state) == 0 && register_hooks(state) == 0)
        return 0;
    Tools_close(state);
    return -1;
}

static int set_global(struct State *state, enum Tool tool, long events)
{
    if (call(state->set_events, "(Ol)", state->tool_ids[tool], events) < 0)
        return -1;
    state->global_events[tool] = events;
    return 0;
}

int Tools_arm(struct State *state)
{
    _Atomic uint32_t *unwinds = &state->engine.registry->latencies.unwinds;
    long global = 0;

    if (state->chosen & CHOSEN_EXCEPTION)
        global |= state->event_bits[ON_RAISE];
    if (!UNWIND_IS_LOCAL)
        global |= state->event_bits[ON_THROW] | state->event_bits[ON_UNWIND];

    state->unwinds_left =
        state->engine.session->config.threshold ? UNWINDS_MOST : 0;
    if (set_global(state, TOOL_TRACER, global) < 0)
        return -1;
    // An earlier session may have switched PY_UNWIND off.
    if (atomic_load_explicit(unwinds, memory_order_relaxed) % 2)
        atomic_fetch_add_explicit(unwinds, 1, memory_order_relaxed);
    return set_global(state, TOOL_DISCOVERY,
                      state->event_bits[ON_START] |
                          state->event_bits[ON_RESUME]);
}

// Switches one of the tracer's global events on or off.
static int switch_global(struct State *state, enum HookEvent event, bool on)
{
    long bit = state->event_bits[event];
    long others = state->global_events[TOOL_TRACER] & ~bit;

    if (holds(state, TOOL_TRACER) &&
        set_global(state, TOOL_TRACER, on ? others | bit : others) == 0)
        return 0;
    PyErr_Clear();
    return -1;
}

int Tools_set_raise(struct State *state, bool on)
{
    return state->ids_lost ? 0 : switch_global(state, ON_RAISE, on);
}

void Tools_renew_raise(struct State *state)
{
    if (!state->ids_lost &&
        state->global_events[TOOL_TRACER] & state->event_bits[ON_RAISE] &&
        switch_global(state, ON_RAISE, false) == 0)
        switch_global(state, ON_RAISE, true);
}

void Tools_note_unwind(struct State *state)
{
    if (UNWIND_IS_LOCAL || !state->unwinds_left || --state->unwinds_left ||
        state->ids_lost)
        return;
    if (switch_global(state, ON_UNWIND, false) == 0)
        atomic_fetch_or_explicit(&state->engine.registry->latencies.unwinds, 1,
                                 memory_order_relaxed);
    state->unwinds_s = Now_s(CLOCK_MONOTONIC);
}

void Tools_renew_unwinds(struct State *state, double now_s)
{
    bool off =
        !(state->global_events[TOOL_TRACER] & state->event_bits[ON_UNWIND]);

    if (UNWIND_IS_LOCAL || !state->engine.session->config.threshold ||
        state->ids_lost || now_s - state->unwinds_s < (off ? UNWIND_OFF_S : 1))
        return;
    if (off && switch_global(state, ON_UNWIND, true) == 0)
        atomic_fetch_add_explicit(&state->engine.registry->latencies.unwinds, 1,
                                  memory_order_relaxed);
    state->unwinds_left = UNWINDS_MOST;
    state->unwinds_s = now_s;
}

void Tools_disarm(struct State *state)
{
    for (enum Tool tool = 0; tool < TOOLS; tool++) {
        long events;

        if (!state->tool_ids[tool] ||
            (!holds(state, tool) && !regain(state, tool)))
            continue;
        events = events_of(state, tool);
        if (events >= 0 && events != state->global_events[tool])
            state->ids_lost = true;
        if (set_global(state, tool, 0) < 0)
            PyErr_Clear();
    }
}

// Unregisters Ocular's callback of one event. If another tool has registered a
// callback in its place, registers that callback again.
static void unregister(struct State *state, enum Tool tool, int event)
{
    const PyObject *ours = hook_of(state, tool, event);
    PyObject *old;

    if (!ours)
        return;
    old = PyObject_CallFunction(state->register_callback, "OlO",
                                state->tool_ids[tool], state->event_bits[event],
                                Py_None);
    if (old && old != ours) {
        state->ids_lost = true;
        if (!Py_IsNone(old))
            set_hook(state, tool, event, old);
    }
    Py_XDECREF(old);
    PyErr_Clear();
}

int Tools_drop_unused(struct State *state)
{
    int i;

    for (i = 0; i < HOOK_EVENTS; i++) {
        if (!state->event_bits[i] || is_used(state, i))
            continue;
        if (set_hook(state, TOOL_TRACER, i, Py_None) < 0)
            return -1;
        state->dropped[i] = true;
    }
    return 0;
}

void Tools_close(struct State *state)
{
    PyObject *error = PyErr_GetRaisedException();

    // Up to 3.13 freeing an id frees only its name, and the callbacks stay
    // registered.
    for (enum Tool tool = 0; tool < TOOLS; tool++) {
        for (int i = 0; state->tool_ids[tool] && i < HOOK_EVENTS; i++)
            unregister(state, tool, i);
        if (holds(state, tool) &&
            call(state->free_tool_id, "(O)", state->tool_ids[tool]) < 0)
            PyErr_Clear();
        state->held[tool] = false;
        Py_CLEAR(state->tool_ids[tool]);
    }
    PyErr_SetRaisedException(error);
}

void Tools_restore(struct State *state, PyCodeObject *code)
{
    Fusion_restore(&state->fusion, (uint8_t *)code->co_code_adaptive,
                   (size_t)Py_SIZE(code));
}

int Tools_set_local(struct State *state, PyCodeObject *code, PyObject *events)
{
    PyObject *const arguments[3] = {state->tool_ids[TOOL_TRACER],
                                    (PyObject *)code, events};
    PyObject *result;

    if (!holds(state, TOOL_TRACER)) {
        PyErr_SetString(PyExc_RuntimeError, "the tool id is not ours any more");
        return -1;
    }
    result = PyObject_Vectorcall(state->set_local_events, arguments, 3, NULL);
    Tools_restore(state, code);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

int Tools_set_steps(struct State *state, PyCodeObject *code, bool on)
{
    long events = state->event_bits[ON_RETURN] | state->event_bits[ON_YIELD];
    int result = -1;

    if (holds(state, TOOL_DISCOVERY)) {
        PyObject *id = state->tool_ids[TOOL_DISCOVERY];

        // The events are cleared first, because setting the same events again
        // does nothing, and a silenced hook may have disabled them (hooks.c).
        result = call(state->set_local_events, "(OOl)", id, code, 0L);
        if (on && result == 0)
            result = call(state->set_local_events, "(OOl)", id, code, events);
        Tools_restore(state, code);
    }
    PyErr_Clear();
    return result;
}

static void set_steps(struct State *state, PyObject *reference, bool on)
{
    PyObject *code = PyObject_CallNoArgs(reference);

    if (code && PyCode_Check(code))
        Tools_set_steps(state, (PyCodeObject *)code, on);
    Py_XDECREF(code);
    PyErr_Clear();
}

// CPython enables a disabled event of a code object again only if the event was
// off for this code object. So Tools_renew_steps switches the discovery tool's
// events off and on. The program notices nothing, because no Python code runs
// meanwhile.
int Tools_renew_steps(struct State *state)
{
    PyObject *id = state->tool_ids[TOOL_DISCOVERY];
    unsigned i;
    int result;

    if (!holds(state, TOOL_DISCOVERY))
        return -1;
    result = call(state->set_events, "(Ol)", id, 0L);
    for (i = 0; result == 0 && i < state->step_code_count; i++)
        set_steps(state, state->step_codes[i], false);
    result |= call(state->set_events, "(Ol)", id,
                   state->global_events[TOOL_DISCOVERY]);
    for (i = 0; result == 0 && i < state->step_code_count; i++)
        set_steps(state, state->step_codes[i], true);
    PyErr_Clear();
    return result;
}
