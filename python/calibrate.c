// SPDX-License-Identifier: MIT
// Runs a probe with and without each kind of hook, in turns, and takes the
// least of each: noise only ever adds. Interpreter's lock held.
#include "python/calibrate.h"
#include "python/adopt.h"
#include "python/tools.h"

#define ROUNDS 24
#define ITERATIONS 200

static const char SOURCE[] =
    "def leaf():\n"
    "    pass\n"
    "def calls(n):\n"
    "    while n:\n"
    "        n -= 1\n"
    "        leaf()\n"
    "def loops(n):\n"
    "    while n:\n"
    "        n -= 1\n";

// One thing to measure: events on a probe while a function runs.
struct Trial {
    PyObject *run;      // borrowed: the function to time
    PyCodeObject *code; // borrowed: what the events are set on
    PyObject *events;   // owned
    uint64_t least;     // ticks of ITERATIONS
};

static int time_once(struct State *state, struct Trial *trial, PyObject *count)
{
    uint64_t begin, ticks;
    PyObject *result;

    if (Tools_set_local(state, trial->code, trial->events) < 0)
        return -1;
    begin = Clock_read(&state->engine.clock);
    result = PyObject_CallOneArg(trial->run, count);
    ticks = Clock_read(&state->engine.clock) - begin;
    Py_XDECREF(result);
    if (Tools_set_local(state, trial->code, state->no_events) < 0 || !result)
        return -1;
    if (ticks < trial->least)
        trial->least = ticks;
    return 0;
}

static int64_t per_iteration(const struct Trial *with,
                             const struct Trial *without, int64_t hooks)
{
    int64_t extra = (int64_t)(with->least - without->least);

    return extra > 0 ? extra / (ITERATIONS * hooks) : 0;
}

enum { CALLS_BARE, CALLS_HOOKED, LOOPS_BARE, LOOPS_JUMP, LOOPS_BRANCH, TRIALS };

static int run_trials(struct State *state, struct Trial trials[TRIALS])
{
    PyObject *count = PyLong_FromLong(ITERATIONS);
    int round, i, result = count ? 0 : -1;

    // The first rounds also let the interpreter specialise the probe.
    for (round = 0; result == 0 && round < ROUNDS; round++)
        for (i = 0; result == 0 && i < TRIALS; i++)
            result = time_once(state, &trials[i], count);
    Py_XDECREF(count);
    return result;
}

static int calibrate(struct State *state, PyObject *globals)
{
    const long *bits = state->event_bits;
    PyObject *leaf = PyDict_GetItemString(globals, "leaf");
    PyObject *calls = PyDict_GetItemString(globals, "calls");
    PyObject *loops = PyDict_GetItemString(globals, "loops");
    const struct {
        PyObject *run, *on;
        long events;
    } plan[TRIALS] = {
        [CALLS_BARE] = {calls, leaf, 0},
        [CALLS_HOOKED] = {calls, leaf, bits[ON_START] | bits[ON_RETURN]},
        [LOOPS_BARE] = {loops, loops, 0},
        [LOOPS_JUMP] = {loops, loops, bits[ON_JUMP]},
        // The arm taken to go on is the left one; the other one is dark.
        [LOOPS_BRANCH] = {loops, loops, bits[ON_BRANCH] | bits[ON_BRANCH_LEFT]},
    };
    struct Trial trials[TRIALS];
    int64_t *cost = state->engine.cost;
    int i, result = -1;

    memset(trials, 0, sizeof trials);
    if (!leaf || !calls || !loops)
        goto done;
    if (!Adopt_probe(state, (PyCodeObject *)PyFunction_GET_CODE(leaf)) ||
        !Adopt_probe(state, (PyCodeObject *)PyFunction_GET_CODE(loops)))
        goto done;
    for (i = 0; i < TRIALS; i++) {
        trials[i].run = plan[i].run;
        trials[i].code = (PyCodeObject *)PyFunction_GET_CODE(plan[i].on);
        trials[i].least = UINT64_MAX;
        trials[i].events = PyLong_FromLong(plan[i].events);
        if (!trials[i].events)
            goto done;
    }
    if (run_trials(state, trials) < 0)
        goto done;
    cost[HOOK_ENTER] = cost[HOOK_LEAVE] =
        per_iteration(&trials[CALLS_HOOKED], &trials[CALLS_BARE], 2);
    cost[HOOK_JUMP] =
        per_iteration(&trials[LOOPS_JUMP], &trials[LOOPS_BARE], 1);
    cost[HOOK_BRANCH] =
        per_iteration(&trials[LOOPS_BRANCH], &trials[LOOPS_BARE], 1);
    result = 0;
done:
    for (i = 0; i < TRIALS; i++)
        Py_XDECREF(trials[i].events);
    return result;
}

int Calibrate_hooks(struct State *state, bool timeline)
{
    static const int64_t none[HOOK_KINDS];
    PyObject *globals = PyDict_New(), *code = NULL, *done = NULL;
    int result = -1;

    Lanes_reset(&state->engine.lanes, none, timeline,
                Clock_read(&state->engine.clock));
    if (globals && PyDict_SetItemString(globals, "__builtins__",
                                        PyEval_GetBuiltins()) == 0)
        code = Py_CompileString(SOURCE, "<ocular>", Py_file_input);
    if (code)
        done = PyEval_EvalCode(code, globals, globals);
    if (done)
        result = calibrate(state, globals);
    if (result < 0 && !PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError,
                        "the cost of a hook cannot be measured");
    Py_XDECREF(done);
    Py_XDECREF(code);
    Py_XDECREF(globals);
    return result;
}
