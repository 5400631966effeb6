// SPDX-License-Identifier: MIT
// Runs a probe with and without each kind of hook, in turns. Each cost is the
// median of the differences within a round, so that neither a slow phase of
// the machine nor a single interruption is taken for a hook's cost.
// Interpreter's lock held.
#include "python/calibrate.h"
#include "python/adopt.h"
#include "python/steps.h"
#include "python/tools.h"

#include <math.h>
#include <stdlib.h>

#define WARM_ROUNDS 4 // the interpreter specialises the probe
#define ROUNDS 41
#define ITERATIONS 40
#define CALLS 3 // an iteration

static const char SOURCE[] =
    "def leaf():\n"
    "    pass\n"
    "def calls(n):\n"
    "    while n:\n"
    "        n -= 1\n"
    "        leaf(); leaf(); leaf()\n"
    "def loops(n):\n"
    "    while n:\n"
    "        n -= 1\n";

enum { CALLS_BARE, CALLS_HOOKED, LOOPS_BARE, LOOPS_HOOKED, TRIALS };

struct Probe {
    PyObject *calls, *loops; // borrowed: the functions to time
    PyCodeObject *leaf;      // borrowed
    PyObject *call_events;   // owned: for the leaf
    PyObject *loop_events;   // owned: for the others
    struct Code *leaf_cells; // of which no cost is taken off yet
    int64_t ticks[TRIALS];   // of ITERATIONS, in this round
    int64_t rounds[HOOK_KINDS][ROUNDS];
};

static int set_events(struct State *state, const struct Probe *probe,
                      PyObject *run, bool hooked)
{
    PyObject *none = state->no_events;
    PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(run);

    if (Tools_set_local(state, probe->leaf,
                        hooked ? probe->call_events : none) < 0)
        return -1;
    return Tools_set_local(state, code, hooked ? probe->loop_events : none);
}

static int time_once(struct State *state, struct Probe *probe, int trial,
                     PyObject *count)
{
    PyObject *run = trial < LOOPS_BARE ? probe->calls : probe->loops, *result;
    bool hooked = trial == CALLS_HOOKED || trial == LOOPS_HOOKED;
    uint64_t begin, ticks;

    if (set_events(state, probe, run, hooked) < 0)
        return -1;
    begin = Clock_read(&state->engine.clock);
    result = PyObject_CallOneArg(run, count);
    ticks = Clock_read(&state->engine.clock) - begin;
    Py_XDECREF(result);
    if (set_events(state, probe, run, false) < 0 || !result)
        return -1;
    probe->ticks[trial] = (int64_t)ticks;
    return 0;
}

// What a round says of each kind, in ticks of ITERATIONS hooks.
//
// Hooks of several kinds cost more in turns than each alone: so they are
// measured in turns, as programs meet them. Jump and branch cost the same.
//
// Of a call's two hooks a part lies within the callee's span, from enter's
// reading of the counter to leave's, and the rest in the caller's. What is left
// of the callee's span is to be what an empty call takes untraced: to be called
// is a function's own cost.
static void note_round(struct Probe *probe, int round, int64_t self)
{
    const int64_t *ticks = probe->ticks;
    int64_t turn = ticks[LOOPS_HOOKED] - ticks[LOOPS_BARE];
    int64_t call = ticks[CALLS_BARE] - ticks[LOOPS_BARE];
    int64_t both = ticks[CALLS_HOOKED] - ticks[CALLS_BARE] - turn;

    probe->rounds[HOOK_ENTER][round] = (self - call) / CALLS;
    probe->rounds[HOOK_LEAVE][round] = (both - (self - call)) / CALLS;
    probe->rounds[HOOK_JUMP][round] = turn / 2;
    probe->rounds[HOOK_BRANCH][round] = turn / 2;
}

static int run_trials(struct State *state, struct Probe *probe)
{
    const cell_t *self = &probe->leaf_cells->self_cycles;
    PyObject *count = PyLong_FromLong(ITERATIONS);
    int round, i, result = count ? 0 : -1;

    for (round = -WARM_ROUNDS; result == 0 && round < ROUNDS; round++) {
        uint64_t before = Cell_get(self);

        for (i = 0; result == 0 && i < TRIALS; i++)
            result = time_once(state, probe, i, count);
        if (round >= 0)
            note_round(probe, round, (int64_t)(Cell_get(self) - before));
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

static struct Code *adopt(struct State *state, PyObject *function)
{
    return Adopt_probe(state, (PyCodeObject *)PyFunction_GET_CODE(function));
}

static int calibrate(struct State *state, PyObject *globals)
{
    const long *bits = state->event_bits;
    PyObject *leaf = PyDict_GetItemString(globals, "leaf");
    struct Probe probe = {
        .calls = PyDict_GetItemString(globals, "calls"),
        .loops = PyDict_GetItemString(globals, "loops"),
        .call_events = PyLong_FromLong(bits[ON_START] | bits[ON_RETURN]),
        // The arm taken to go on is the left one; the other one is dark.
        .loop_events = PyLong_FromLong(bits[ON_JUMP] | bits[ON_BRANCH] |
                                       bits[ON_BRANCH_LEFT]),
    };
    int i, result = -1;

    if (!leaf || !probe.calls || !probe.loops || !probe.call_events ||
        !probe.loop_events)
        goto done;
    probe.leaf = (PyCodeObject *)PyFunction_GET_CODE(leaf);
    probe.leaf_cells = adopt(state, leaf);
    if (!probe.leaf_cells || !adopt(state, probe.calls) ||
        !adopt(state, probe.loops) || run_trials(state, &probe) < 0)
        goto done;
    for (i = 0; i < HOOK_KINDS; i++)
        state->engine.cost[i] = middle(probe.rounds[i]);
    result = 0;
done:
    Py_XDECREF(probe.call_events);
    Py_XDECREF(probe.loop_events);
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
    if (result == 0 && state->precise)
        result = Steps_calibrate(state);
    if (result < 0 && !PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError,
                        "the cost of a hook cannot be measured");
    // The functions hold the globals that hold them: the probes are to go now,
    // not during the session.
    if (globals)
        PyDict_Clear(globals);
    Py_XDECREF(done);
    Py_XDECREF(code);
    Py_XDECREF(globals);
    return result;
}
