// SPDX-License-Identifier: MIT
// Times the programs of ocular/_probes.py at start. Interpreter's lock held.
#include "python/hooks/calibrate.h"
#include "ipc/base/heap.h"
#include "python/hooks/hook_costs.h"
#include "python/hooks/own_trace.h"
#include "python/hooks/steps.h"
#include "python/hooks/tools.h"

#include <math.h>

struct Calibration {
    struct State *state;
    PyObject *table; // keeps the programs
    struct Probes probes;
    double cost[HOOK_KINDS]; // ticks
    bool stopped;            // by a fork's child
};

// In several passes, of which the best one counts: a slow phase of the machine
// takes in many probes.
static int time_all(struct Calibration *all)
{
    int pass;
    size_t i;

    for (pass = 0; pass < PROBE_PASSES; pass++)
        for (i = 0; i < all->probes.count; i++)
            if (Probe_time(all->state, &all->probes.probes[i]) < 0)
                return -1;
    for (i = 0; i < all->probes.count; i++)
        Probe_sum_up(&all->probes.probes[i]);
    return 0;
}

static void set_cost(const struct Calibration *all)
{
    struct Engine *engine = &all->state->engine;
    int kind;

    for (kind = 0; kind < HOOK_KINDS; kind++)
        engine->cost[kind] = llround(all->cost[kind]);
    ThreadTraces_set_cost(&engine->traces, engine->cost);
}

// --- The programs ----------------------------------------------------------

static int arm(const struct Calibration *all)
{
    size_t i;

    for (i = 0; i < all->probes.count; i++)
        if (Probe_arm(all->state, &all->probes.probes[i]) < 0)
            return -1;
    return 0;
}

static void disarm(const struct Calibration *all)
{
    size_t i;

    for (i = 0; i < all->probes.count; i++)
        Probe_disarm(all->state, &all->probes.probes[i]);
}

static PyObject *make_table(void)
{
    PyObject *module = PyImport_ImportModule("ocular._probes"), *table = NULL;

    if (module)
        table = PyObject_CallMethod(module, "table", NULL);
    Py_XDECREF(module);
    if (table && !PyList_Check(table)) {
        PyErr_SetString(PyExc_RuntimeError, "ocular._probes has no table");
        Py_CLEAR(table);
    }
    return table;
}

static int init(struct Calibration *all)
{
    size_t i;

    all->table = make_table();
    if (!all->table)
        return -1;
    for (i = 0; i < (size_t)PyList_GET_SIZE(all->table) && i < PROBES_MAX; i++)
        if (Probe_init(all->state, &all->probes.probes[i],
                       PyList_GET_ITEM(all->table, (Py_ssize_t)i)) < 0)
            return -1;
    all->probes.count = i;
    return 0;
}

static int calibrate(struct Calibration *all)
{
    if (arm(all) < 0 || time_all(all) < 0)
        return -1;
    HookCosts_conclude(&all->probes, all->cost);
    if (all->state->precise && Steps_calibrate(all->state, all->cost) < 0)
        return -1;
    return 0;
}

// A child that was forked meanwhile traces nothing.
static int conclude(struct Calibration *all, int result)
{
    PyObject *error = PyErr_GetRaisedException();

    if (result < 0 || all->stopped)
        result = -1;
    else
        set_cost(all);
    disarm(all);
    all->state->calibration = NULL;
    Py_XDECREF(all->table);
    Heap_free(all);
    PyErr_SetRaisedException(error);
    return result;
}

int Calibration_run(struct State *state)
{
    static const int64_t none[HOOK_KINDS];
    uint64_t ticks = Clock_read(&state->engine.clock);
    struct Calibration *all = Heap_zeroed(1, sizeof *all);
    int result;

    if (!all || !OwnTrace_get(state, ticks)) {
        Heap_free(all);
        PyErr_NoMemory();
        return -1;
    }
    all->state = state;
    state->calibration = all;
    ThreadTraces_reset(&state->engine.traces, none, false, ticks);
    Counting_reset(&state->engine.counting);
    result = init(all) == 0 ? calibrate(all) : -1;
    result = conclude(all, result);
    if (result < 0 && !PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError,
                        "the cost of a hook cannot be measured");
    return result;
}

void Calibration_stop(struct State *state)
{
    if (state->calibration)
        state->calibration->stopped = true;
}
