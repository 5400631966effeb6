// SPDX-License-Identifier: MIT
// Calibrates the INSTRUCTION event on two probes, with and without it.
//
// The event makes CPython run an instruction in its generic form. So the probes
// consist of instructions that have no other: what the event adds to them is
// the hook alone. Some are slow and some fast, as in programs, since part of
// the hook's work overlaps with that of slow ones.
#include "python/hooks/steps.h"
#include "python/hooks/adopt.h"
#include "python/hooks/interpreter.h"
#include "python/hooks/tools.h"

#include <math.h>

#define ROUNDS 25
#define ITERATIONS 100

// The far probe's instructions lie beyond the offsets that CPython keeps the
// integers of: up to 1024 in 3.15, and a line of one name is 4 bytes.
static const char SOURCE[] =
    "lines = ' x\\n [x]\\n -x\\n' * 3\n"
    "exec('def near(x):\\n' + lines)\n"
    "exec('def far(x):\\n if not x:\\n' + '  x\\n' * 260 + lines)\n"
    "def run(probe, n):\n"
    "    while n:\n"
    "        n -= 1\n"
    "        probe(2.5)\n";

struct Probe {
    PyObject *run;        // borrowed: calls it
    PyObject *function;   // borrowed
    struct Code *code;    // its record
    PyObject *calls;      // events without INSTRUCTION: owned
    PyObject *steps;      // and with it: owned
    PyObject *iterations; // owned
    double near, far;     // INSTRUCTION events an iteration, by their offsets
};

// Ticks of one run, or -1 with an exception.
static int64_t time_once(struct State *state, const struct Probe *probe,
                         PyObject *events)
{
    PyObject *const arguments[2] = {probe->function, probe->iterations};
    PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(probe->function);
    uint64_t begin, ticks;
    PyObject *result;

    if (Tools_set_local(state, code, events) < 0)
        return -1;
    begin = Clock_read(&state->engine.clock);
    result = PyObject_Vectorcall(probe->run, arguments, 2, NULL);
    ticks = Clock_read(&state->engine.clock) - begin;
    if (!result) // what is armed goes with the session, which does not start
        return -1;
    Py_DECREF(result);
    if (Tools_set_local(state, code, state->no_events) < 0)
        return -1;
    return (int64_t)ticks;
}

static void count_events(struct Probe *probe)
{
    uint32_t i;

    for (i = 0; i < probe->code->layout.instruction_count; i++) {
        const struct Instruction *at = &probe->code->layout.instructions[i];
        double hits = (double)Counter_get(&at->hits) / (ROUNDS * ITERATIONS);

        if (at->unit < HOOK_NEAR_UNITS)
            probe->near += hits;
        else
            probe->far += hits;
    }
}

// What the event adds to an iteration, in ticks; NaN with an exception. The
// least of each, not the median of differences: these rounds are long, and a
// slow phase of the machine may take in most of them.
static double added(struct State *state, struct Probe *probe)
{
    int64_t least_with = INT64_MAX, least_without = INT64_MAX;
    int round;

    for (round = 0; round < ROUNDS; round++) {
        int64_t with = time_once(state, probe, probe->steps);
        int64_t without = with < 0 ? -1 : time_once(state, probe, probe->calls);

        if (without < 0)
            return NAN;
        least_with = with < least_with ? with : least_with;
        least_without = without < least_without ? without : least_without;
    }
    Counting_catch_up(&state->engine.counting);
    count_events(probe);
    return (double)(least_with - least_without) / ITERATIONS;
}

static int init(struct Probe *probe, struct State *state, PyObject *globals,
                const char *name)
{
    const long *bits = state->event_bits;
    long calls = bits[ON_START] | bits[ON_RETURN];

    memset(probe, 0, sizeof *probe);
    probe->run = PyDict_GetItemString(globals, "run");
    probe->function = PyDict_GetItemString(globals, name);
    probe->calls = PyLong_FromLong(calls);
    probe->steps = PyLong_FromLong(calls | bits[ON_INSTRUCTION]);
    probe->iterations = PyLong_FromLong(ITERATIONS);
    if (!probe->run || !probe->function || !probe->calls || !probe->steps ||
        !probe->iterations)
        return -1;
    probe->code = Adopt_probe(
        state, (PyCodeObject *)PyFunction_GET_CODE(probe->function));
    return probe->code ? 0 : -1;
}

static void release(struct Probe *probe)
{
    Py_XDECREF(probe->calls);
    Py_XDECREF(probe->steps);
    Py_XDECREF(probe->iterations);
}

// Another tool that takes our id right now leaves none of them.
static double each(double ticks, double events)
{
    return events > 0 ? ticks / events : 0;
}

static int measure(struct State *state, PyObject *globals, double *costs)
{
    struct Probe near = {.run = NULL}, far = near;
    double of_near = NAN, of_far = NAN, cost;

    if (init(&near, state, globals, "near") == 0)
        of_near = added(state, &near);
    if (!isnan(of_near) && init(&far, state, globals, "far") == 0)
        of_far = added(state, &far);
    release(&near);
    release(&far);
    if (isnan(of_far))
        return -1;
    cost = each(of_near, near.near);
    costs[HOOK_INSTRUCTION] = cost;
    costs[HOOK_INSTRUCTION_FAR] = each(of_far - far.near * cost, far.far);
    return 0;
}

int Steps_calibrate(struct State *state, double cost[HOOK_KINDS])
{
    PyObject *globals = PyDict_New(), *code = NULL, *done = NULL;
    int result = -1;

    if (globals && PyDict_SetItemString(globals, "__builtins__",
                                        PyEval_GetBuiltins()) == 0)
        code = Py_CompileString(SOURCE, "<ocular>", Py_file_input);
    if (code)
        done = PyEval_EvalCode(code, globals, globals);
    if (done)
        result = measure(state, globals, cost);
    if (globals) // as in calibrate.c: the probes are to go now
        PyDict_Clear(globals);
    Py_XDECREF(done);
    Py_XDECREF(code);
    Py_XDECREF(globals);
    return result;
}
