// SPDX-License-Identifier: MIT
// Runs a probe with and without each kind of hook, in turns. Each cost is the
// median of the differences within a round, so that neither a slow phase of
// the machine nor a single interruption is taken for a hook's cost.
// Interpreter's lock held.
#include "python/calibrate.h"
#include "python/adopt.h"
#include "python/tools.h"

#include <math.h>
#include <stdlib.h>

#define WARM_ROUNDS 4 // the interpreter specialises the probe
#define ROUNDS 21
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
    int64_t ticks;      // of ITERATIONS, in this round
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
    trial->ticks = (int64_t)ticks;
    return 0;
}

enum { CALLS_BARE, CALLS_HOOKED, LOOPS_BARE, LOOPS_HOOKED, TRIALS };

struct Probe {
    struct Trial trials[TRIALS];
    struct Code *leaf; // its own cycles, while no cost is taken off yet
    int64_t rounds[HOOK_KINDS][ROUNDS];
};

// What a round says of each kind, in ticks of ITERATIONS.
//
// Of a call's two hooks a part lies within the callee's span, from enter's
// reading of the counter to leave's, and the rest in the caller's. What is left
// of the callee's span is to be what an empty call takes untraced: to be called
// is a function's own cost.
//
// Jump and branch cost the same, but more in turns than each alone: so they are
// measured in turns.
static void note_round(struct Probe *probe, int round, uint64_t self)
{
    const struct Trial *trials = probe->trials;
    int64_t bare = trials[CALLS_BARE].ticks, loop = trials[LOOPS_BARE].ticks;
    int64_t both = trials[CALLS_HOOKED].ticks - bare;
    int64_t within = (int64_t)self - (bare - loop);
    int64_t turn = trials[LOOPS_HOOKED].ticks - loop;

    probe->rounds[HOOK_ENTER][round] = within;
    probe->rounds[HOOK_LEAVE][round] = both - within;
    probe->rounds[HOOK_JUMP][round] = turn / 2;
    probe->rounds[HOOK_BRANCH][round] = turn - turn / 2;
}

static int run_trials(struct State *state, struct Probe *probe)
{
    PyObject *count = PyLong_FromLong(ITERATIONS);
    int round, i, result = count ? 0 : -1;

    for (round = -WARM_ROUNDS; result == 0 && round < ROUNDS; round++) {
        uint64_t self = Cell_get(&probe->leaf->self_cycles);

        for (i = 0; result == 0 && i < TRIALS; i++)
            result = time_once(state, &probe->trials[i], count);
        if (round >= 0)
            note_round(probe, round,
                       Cell_get(&probe->leaf->self_cycles) - self);
    }
    Py_XDECREF(count);
    return result;
}

static int compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

// What leave's hook costs, or enter's, may come out below zero: only their sum
// is a hook's cost.
static int64_t middle(int64_t values[ROUNDS])
{
    qsort(values, ROUNDS, sizeof *values, compare);
    return llround((double)values[ROUNDS / 2] / ITERATIONS);
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
        // The arm taken to go on is the left one; the other one is dark.
        [LOOPS_HOOKED] = {loops, loops,
                          bits[ON_JUMP] | bits[ON_BRANCH] |
                              bits[ON_BRANCH_LEFT]},
    };
    struct Probe probe;
    int i, result = -1;

    memset(&probe, 0, sizeof probe);
    if (!leaf || !calls || !loops)
        goto done;
    probe.leaf = Adopt_probe(state, (PyCodeObject *)PyFunction_GET_CODE(leaf));
    if (!probe.leaf ||
        !Adopt_probe(state, (PyCodeObject *)PyFunction_GET_CODE(loops)))
        goto done;
    for (i = 0; i < TRIALS; i++) {
        struct Trial *trial = &probe.trials[i];

        trial->run = plan[i].run;
        trial->code = (PyCodeObject *)PyFunction_GET_CODE(plan[i].on);
        trial->events = PyLong_FromLong(plan[i].events);
        if (!trial->events)
            goto done;
    }
    if (run_trials(state, &probe) < 0)
        goto done;
    for (i = 0; i < HOOK_KINDS; i++)
        state->engine.cost[i] = middle(probe.rounds[i]);
    result = 0;
done:
    for (i = 0; i < TRIALS; i++)
        Py_XDECREF(probe.trials[i].events);
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
