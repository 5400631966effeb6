// SPDX-License-Identifier: MIT
// Times the programs of ocular/_probes.py with and without hooks. Callers hold
// the GIL.
#include "python/hooks/calibrate.h"
#include "python/hooks/adopt.h"
#include "python/hooks/own_trace.h"
#include "python/hooks/tools.h"

#include <math.h>
#include <unistd.h>

// The cost of a hook is computed from the shortest run only, because a slow
// phase of the machine may last for a run or for a whole pass.
#define PASSES 8
#define WARM_RUNS 4 // runs in which CPython specialises the programs
#define RUNS 5
#define HOOKED_RUNS (PASSES * (WARM_RUNS + RUNS))

enum Kind { CALL, RESUME, LOOP, FAR_LOOP, LINE, INSTRUCTION, PROBES };

// Holds the times of the shortest of several runs.
struct Run {
    double ticks;
    double self; // ticks that the run adds to the callee's self time
};

// Holds a row of ocular._probes.table(), from which the objects are borrowed.
struct Probe {
    PyObject *base, *run, *callee, *hooked_run, *hooked_callee, *argument;
    PyCodeObject *code; // The code object that has the hooks.
    // counters of `code`, from which no hook cost is subtracted
    const struct Code *counters;
    struct Run without, bare, hooked;
};

struct Calibration {
    struct State *state;
    PyObject *table;
    struct Probe probes[PROBES];
};

// Returns true if this session measures the kind of hooks.
static bool is_measured(const struct State *state, enum Kind kind)
{
    if (kind == LINE)
        return state->chosen & CHOSEN_LINE;
    return kind != INSTRUCTION || state->precise;
}

static int init_probe(struct State *state, struct Probe *probe, PyObject *row,
                      bool calls)
{
    PyObject *hooked;

    if (!PyArg_ParseTuple(row, "O!O!O!O!O!O", &PyFunction_Type, &probe->base,
                          &PyFunction_Type, &probe->run, &PyFunction_Type,
                          &probe->callee, &PyFunction_Type, &probe->hooked_run,
                          &PyFunction_Type, &probe->hooked_callee,
                          &probe->argument))
        return -1;
    hooked = calls ? probe->hooked_callee : probe->hooked_run;
    probe->code = (PyCodeObject *)PyFunction_GET_CODE(hooked);
    probe->without.ticks = probe->bare.ticks = probe->hooked.ticks = INFINITY;
    probe->counters = Adopt_probe(state, probe->code);
    return probe->counters ? 0 : -1;
}

static int init(struct Calibration *all)
{
    PyObject *module = PyImport_ImportModule("ocular._probes");
    size_t i;

    if (module)
        all->table = PyObject_CallMethod(module, "table", NULL);
    Py_XDECREF(module);
    for (i = 0; all->table && i < PROBES; i++) {
        PyObject *row = PyList_GetItem(all->table, (Py_ssize_t)i);

        if (!is_measured(all->state, i))
            continue;
        if (!row || init_probe(all->state, &all->probes[i], row,
                               i < LOOP || i == INSTRUCTION) < 0)
            return -1;
    }
    return all->table ? 0 : -1;
}

static long events_of(const struct State *state, enum Kind kind)
{
    const long *bits = state->event_bits;

    switch (kind) {
    case CALL:
    case RESUME:
        return bits[ON_START] | bits[ON_RESUME] | bits[ON_RETURN] |
               bits[ON_YIELD];
    case INSTRUCTION:
        return bits[ON_INSTRUCTION];
    case LINE:
        return bits[ON_LINE];
    default:
        return bits[ON_JUMP] | bits[ON_BRANCH] | bits[ON_BRANCH_LEFT] |
               bits[ON_BRANCH_RIGHT];
    }
}

static int arm(const struct Calibration *all)
{
    size_t i;
    int done = 0;

    for (i = 0; done >= 0 && i < PROBES; i++) {
        PyObject *events;

        if (!all->probes[i].counters)
            continue;
        events = PyLong_FromLong(events_of(all->state, i));
        done = events ? Tools_set_local(all->state, all->probes[i].code, events)
                      : -1;
        Py_XDECREF(events);
    }
    return done < 0 ? -1 : 0;
}

// Clears the events of the code of all probes. Continues after errors, because
// another tool may have taken Ocular's tool id.
static void disarm(const struct Calibration *all)
{
    size_t i;

    for (i = 0; i < PROBES; i++)
        if (all->probes[i].counters &&
            Tools_set_local(all->state, all->probes[i].code,
                            all->state->no_events) < 0)
            PyErr_Clear();
}

// --- Timing ------------------------------------------------------------------

// Counts all hits and returns the self ticks of the probe's code.
static uint64_t self_of(const struct Probe *probe)
{
    Counting_catch_up(&ocular_state.engine.counting);
    return Counter_get(&probe->counters->hot.self_cycles);
}

// Times several runs of one kind in a row. If runs of several kinds took turns,
// the CPU would predict their jumps worse than it does in a running program.
// Returns 0, or -1 with an exception.
static int time_runs(const struct Probe *probe, PyObject *run, PyObject *callee,
                     struct Run *least)
{
    PyObject *const arguments[2] = {callee, probe->argument};
    int i;

    for (i = -WARM_RUNS; i < RUNS; i++) {
        uint64_t self = self_of(probe);
        uint64_t begin = Clock_read(&ocular_state.engine.clock);
        PyObject *result = PyObject_Vectorcall(run, arguments, 2, NULL);
        double ticks = (double)(Clock_read(&ocular_state.engine.clock) - begin);

        if (!result)
            return -1;
        Py_DECREF(result);
        if (i >= 0 && ticks < least->ticks)
            *least = (struct Run){ticks, (double)(self_of(probe) - self)};
    }
    return 0;
}

static int time_all(struct Calibration *all)
{
    struct Probe *probe;
    int pass;

    for (pass = 0; pass < PASSES; pass++)
        for (probe = all->probes; probe < all->probes + PROBES; probe++)
            if (probe->counters &&
                (time_runs(probe, probe->base, probe->callee, &probe->without) <
                     0 ||
                 time_runs(probe, probe->run, probe->callee, &probe->bare) <
                     0 ||
                 time_runs(probe, probe->hooked_run, probe->hooked_callee,
                           &probe->hooked) < 0))
                return -1;
    return 0;
}

// --- The costs
// -----------------------------------------------------------------

// Returns `ticks` per event. Returns 0 if there were no events, because another
// tool has taken Ocular's tool id or this mode does not use the probe.
static double each(const struct Probe *probe, double ticks)
{
    double events = probe->counters ? (double)Code_events(probe->counters) : 0;

    return events > 0 ? ticks / (events / HOOKED_RUNS) : 0;
}

static double cost_of(const struct Probe *probe)
{
    return each(probe, probe->hooked.ticks - probe->bare.ticks);
}

// Splits the cost of a call's two hooks. The callee's span contains the time
// from the counter's reading in the enter hook to the reading in the leave
// hook, and the caller's span contains the rest. An untraced call also takes
// time in its caller. The call's time in the caller counts as the callee's
// time, because the time is the cost of being called. So one of the two hooks
// may get a negative cost.
static void set_pair(int64_t *enter, int64_t *leave, const struct Probe *probe)
{
    double inside =
        2 * each(probe, probe->hooked.self -
                            (probe->bare.ticks - probe->without.ticks));

    *enter = llround(inside);
    *leave = llround(2 * cost_of(probe) - inside);
}

// Returns the ticks that an untraced call of an empty function takes.
static double call_ticks(const struct Probe *probe)
{
    return fmax(2 * each(probe, probe->bare.ticks - probe->without.ticks), 0);
}

static void set_costs(int64_t cost[HOOK_KINDS], const struct Probe *probes)
{
    double jump = cost_of(&probes[LOOP]);
    double far = (cost_of(&probes[FAR_LOOP]) - jump) / 2;
    int64_t offset = far > 0 ? llround(far) : 0;

    set_pair(&cost[HOOK_ENTER], &cost[HOOK_LEAVE], &probes[CALL]);
    set_pair(&cost[HOOK_RESUME], &cost[HOOK_YIELD], &probes[RESUME]);
    cost[HOOK_JUMP] = llround(jump);
    cost[HOOK_LINE] = llround(cost_of(&probes[LINE]));
    cost[HOOK_FAR + HOOK_LINE] = cost[HOOK_LINE] + offset;
    cost[HOOK_INSTRUCTION] = llround(cost_of(&probes[INSTRUCTION]));
    cost[HOOK_FAR + HOOK_LEAVE] = cost[HOOK_LEAVE] + offset;
    cost[HOOK_FAR + HOOK_YIELD] = cost[HOOK_YIELD] + 2 * offset;
    cost[HOOK_FAR + HOOK_JUMP] = cost[HOOK_JUMP] + 2 * offset;
    cost[HOOK_FAR + HOOK_INSTRUCTION] = cost[HOOK_INSTRUCTION] + offset;
}

static int run(struct Calibration *all)
{
    pid_t process = getpid();

    if (init(all) < 0 || arm(all) < 0 || time_all(all) < 0)
        return -1;
    if (getpid() == process)
        return 0;
    PyErr_SetString(PyExc_RuntimeError,
                    "the cost of a hook cannot be measured: forked meanwhile");
    return -1;
}

int Calibration_run(struct State *state)
{
    struct ThreadTraces *traces = &state->engine.traces;
    struct Calibration all = {.state = state};
    uint64_t ticks = Clock_read(&state->engine.clock);
    PyObject *error;
    int result;

    if (!OwnTrace_get(state, ticks)) {
        PyErr_NoMemory();
        return -1;
    }
    memset(traces->cost, 0, sizeof traces->cost);
    ThreadTraces_reset(traces, false, ticks);
    Counting_reset(&state->engine.counting);
    result = run(&all);
    error = PyErr_GetRaisedException();
    if (result == 0) {
        set_costs(traces->cost, all.probes);
        traces->call_ticks = call_ticks(&all.probes[CALL]);
    }
    disarm(&all);
    Py_XDECREF(all.table);
    PyErr_SetRaisedException(error);
    return result;
}
