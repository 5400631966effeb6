// SPDX-License-Identifier: MIT
// Runs the programs of ocular/_probes.py with and without hooks, in turns. What
// a hook costs there is the median over the rounds, so that neither a slow
// phase of the machine nor a single interruption is taken for it, and what it
// costs altogether the median over the programs. Interpreter's lock held.
#include "python/calibrate.h"
#include "python/adopt.h"
#include "python/hook.h"
#include "python/steps.h"
#include "python/tools.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WARM_ROUNDS 4 // the interpreter specialises the programs
#define ROUNDS 5
#define PASSES 2
#define RUNS (PASSES * (WARM_ROUNDS + ROUNDS)) // with hooks
#define PROBES_MAX 32
// Of what a call's two hooks cost, what a throw costs that nothing is done
// about. Measured (docs/overhead.md); what leaving costs is no measure of it:
// only the sum of a call's two hooks is known.
#define DARK_THROW_PART 0.4

enum ProbeKind { PROBE_CALL, PROBE_RESUME, PROBE_LOOP, PROBE_FAR, PROBE_KINDS };

static const char *const KIND_NAMES[PROBE_KINDS] = {"call", "resume", "loop",
                                                    "far loop"};

enum { BASE, BARE, HOOKED, TRIALS };

// Of several runs the median ones.
struct Runs {
    double ticks;
    double self; // of the callee, as its cell shows it
};

// One row of the table, which holds all the objects.
struct Probe {
    enum ProbeKind kind;
    PyObject *run, *hooked_run, *base, *callee, *hooked_callee, *argument;
    PyCodeObject *code;       // that has the hooks
    const struct Code *cells; // its record, of which no cost is taken off
    struct Runs least[TRIALS];
    double whole;                  // ticks that the hooks add to a run
    double inside;                 // what of that lies within the callee's span
    double calls, jumps, branches; // events of a run
};

struct Calibration {
    struct State *state;
    PyObject *table; // keeps the programs
    size_t count;
    struct Probe probes[PROBES_MAX];
    double cost[HOOK_KINDS]; // ticks
};

// Ticks of a run, or -1 with an exception.
static int64_t time_run(const struct State *state, PyObject *run,
                        PyObject *callee, PyObject *argument)
{
    PyObject *const arguments[2] = {callee, argument};
    uint64_t begin = Clock_read(&state->engine.clock), ticks;
    PyObject *result = PyObject_Vectorcall(run, arguments, 2, NULL);

    ticks = Clock_read(&state->engine.clock) - begin;
    Py_XDECREF(result);
    return result ? (int64_t)ticks : -1;
}

// Of a run. What follows from other sites, as FOR_ITER's, fired but once.
static double hits_of(const struct Code *code, enum SiteKind first,
                      enum SiteKind last)
{
    uint64_t hits = 0;
    uint32_t i;

    for (i = 0; i < code->site_count; i++)
        if (code->sites[i].kind >= first && code->sites[i].kind <= last &&
            !code->sites[i].redundant)
            hits += Cell_get(&code->sites[i].hits);
    return (double)hits / RUNS;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

// Sorts them; 0 where there are none.
static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return count ? values[count / 2] : 0;
}

// All runs of a kind follow each other: in turns with others, the CPU would not
// predict their jumps as it does those of a program that runs. 0, or -1 with an
// exception.
static int time_runs(const struct State *state, const struct Probe *probe,
                     bool hooked, PyObject *run, struct Runs *runs)
{
    PyObject *callee = hooked ? probe->hooked_callee : probe->callee;
    double ticks[ROUNDS], cycles[ROUNDS];
    int round;

    for (round = -WARM_ROUNDS; round < ROUNDS; round++) {
        uint64_t before = Cell_get(&probe->cells->self_cycles);
        int64_t taken = time_run(state, run, callee, probe->argument);

        if (taken < 0)
            return -1;
        if (round < 0)
            continue;
        ticks[round] = (double)taken;
        cycles[round] = (double)(Cell_get(&probe->cells->self_cycles) - before);
    }
    runs->self = median(cycles, ROUNDS);
    runs->ticks = median(ticks, ROUNDS);
    return 0;
}

static int keep_least(const struct State *state, const struct Probe *probe,
                      bool hooked, PyObject *run, struct Runs *least)
{
    struct Runs runs;

    if (time_runs(state, probe, hooked, run, &runs) < 0)
        return -1;
    if (least->ticks <= 0 || runs.ticks < least->ticks)
        *least = runs;
    return 0;
}

static int time_probe(const struct State *state, struct Probe *probe)
{
    if (keep_least(state, probe, false, probe->base, &probe->least[BASE]) < 0 ||
        keep_least(state, probe, false, probe->run, &probe->least[BARE]) < 0 ||
        keep_least(state, probe, true, probe->hooked_run,
                   &probe->least[HOOKED]) < 0)
        return -1;
    return 0;
}

// Of a call's two hooks a part lies within the callee's span, from enter's
// reading of the counter to leave's, and the rest in the caller's. What is left
// of the callee's span is to be what the call adds to its caller untraced: to
// be called is a function's own cost.
static void sum_up(struct Probe *probe)
{
    const struct Code *cells = probe->cells;
    const struct Runs *least = probe->least;

    probe->calls = (double)Cell_get(&cells->calls) / RUNS;
    probe->jumps = hits_of(cells, SITE_JUMP, SITE_JUMP);
    probe->branches = hits_of(cells, SITE_BRANCH, SITE_BRANCH_RIGHT);
    probe->whole = least[HOOKED].ticks - least[BARE].ticks;
    probe->inside =
        least[HOOKED].self - (least[BARE].ticks - least[BASE].ticks);
}

// In two passes, of which the better one counts: a slow phase of the machine
// takes in many probes.
static int time_all(struct Calibration *all)
{
    int pass;
    size_t i;

    for (pass = 0; pass < PASSES; pass++)
        for (i = 0; i < all->count; i++)
            if (time_probe(all->state, &all->probes[i]) < 0)
                return -1;
    for (i = 0; i < all->count; i++)
        sum_up(&all->probes[i]);
    return 0;
}

// --- What follows from it --------------------------------------------------

// Of a call: what both hooks add, or what of that is within the callee.
static double cost_of_calls(const struct Calibration *all, enum ProbeKind kind,
                            bool inside)
{
    double costs[PROBES_MAX];
    size_t count = 0, i;

    for (i = 0; i < all->count; i++) {
        const struct Probe *probe = &all->probes[i];

        if (probe->kind == kind && probe->calls > 0)
            costs[count++] =
                (inside ? probe->inside : probe->whole) / probe->calls;
    }
    return median(costs, count);
}

// Of a jump, by the loops that have no branch, or of a branch, by the others.
static double cost_of_loops(const struct Calibration *all, const double *jump)
{
    double costs[PROBES_MAX];
    size_t count = 0, i;

    for (i = 0; i < all->count; i++) {
        const struct Probe *probe = &all->probes[i];

        if (probe->kind != PROBE_LOOP)
            continue;
        if (jump && probe->branches > 0)
            costs[count++] =
                (probe->whole - *jump * probe->jumps) / probe->branches;
        else if (!jump && probe->branches <= 0 && probe->jumps > 0)
            costs[count++] = probe->whole / probe->jumps;
    }
    return median(costs, count);
}

// Of a far offset, which a jump or a branch has two of: the same loop near by
// is the probe before. Like the others, without those that have seen nothing:
// another tool may take our id meanwhile.
static double cost_of_far(const struct Calibration *all)
{
    double costs[PROBES_MAX];
    size_t count = 0, i;

    for (i = 1; i < all->count; i++) {
        const struct Probe *far = &all->probes[i], *near = far - 1;
        double hits = far->jumps + far->branches;
        double near_hits = near->jumps + near->branches;

        if (far->kind == PROBE_FAR && hits > 0 && near_hits > 0)
            costs[count++] = far->whole / hits - near->whole / near_hits;
    }
    return median(costs, count) / 2;
}

// Only the sum of a call's two hooks is what they cost: one of them may come
// out below zero.
static void conclude(struct Calibration *all)
{
    double *cost = all->cost;
    double enter = cost_of_calls(all, PROBE_CALL, true);
    double leave = cost_of_calls(all, PROBE_CALL, false) - enter;
    double resume = cost_of_calls(all, PROBE_RESUME, true);
    double yield = cost_of_calls(all, PROBE_RESUME, false) - resume;
    double jump = cost_of_loops(all, NULL);
    double branch = cost_of_loops(all, &jump);
    double far = cost_of_far(all);

    cost[HOOK_ENTER] = enter;
    cost[HOOK_RESUME] = resume;
    cost[HOOK_LEAVE] = leave;
    cost[HOOK_LEAVE_FAR] = leave + far;
    cost[HOOK_YIELD] = yield;
    cost[HOOK_YIELD_FAR] = yield + 2 * far;
    cost[HOOK_FINISH] = yield;
    cost[HOOK_FINISH_FAR] = yield + far;
    cost[HOOK_JUMP] = jump;
    cost[HOOK_JUMP_FAR] = jump + 2 * far;
    cost[HOOK_BRANCH] = branch;
    cost[HOOK_BRANCH_FAR] = branch + 2 * far;
    cost[HOOK_DARK_THROW] = DARK_THROW_PART * (enter + leave);
}

// --- The programs ----------------------------------------------------------

static int init_probe(struct State *state, struct Probe *probe, PyObject *row)
{
    const char *kind;
    int i;

    if (!PyArg_ParseTuple(row, "sO!O!O!O!O!O", &kind, &PyFunction_Type,
                          &probe->run, &PyFunction_Type, &probe->hooked_run,
                          &PyFunction_Type, &probe->base, &PyFunction_Type,
                          &probe->callee, &PyFunction_Type,
                          &probe->hooked_callee, &probe->argument))
        return -1;
    for (i = 0; i < PROBE_KINDS; i++)
        if (strcmp(kind, KIND_NAMES[i]) == 0)
            probe->kind = i;
    probe->code = (PyCodeObject *)PyFunction_GET_CODE(
        probe->kind < PROBE_LOOP ? probe->hooked_callee : probe->hooked_run);
    probe->cells = Adopt_probe(state, probe->code);
    return probe->cells ? 0 : -1;
}

static PyObject *events_of(const struct State *state, enum ProbeKind kind)
{
    const long *bits = state->event_bits;

    if (kind < PROBE_LOOP)
        return PyLong_FromLong(bits[ON_START] | bits[ON_RESUME] |
                               bits[ON_RETURN] | bits[ON_YIELD]);
    return PyLong_FromLong(bits[ON_JUMP] | bits[ON_BRANCH] |
                           bits[ON_BRANCH_LEFT] | bits[ON_BRANCH_RIGHT]);
}

static int arm(struct Calibration *all)
{
    size_t i;

    for (i = 0; i < all->count; i++) {
        const struct Probe *probe = &all->probes[i];
        PyObject *events = events_of(all->state, probe->kind);
        int done =
            events ? Tools_set_local(all->state, probe->code, events) : -1;

        Py_XDECREF(events);
        if (done < 0)
            return -1;
    }
    return 0;
}

// Goes on after errors: the tool's id may be another's by now. Keeps an
// exception.
static void disarm(struct Calibration *all)
{
    PyObject *error = PyErr_GetRaisedException();
    size_t i;

    for (i = 0; i < all->count; i++)
        if (Tools_set_local(all->state, all->probes[i].code,
                            all->state->no_events) < 0)
            PyErr_Clear();
    PyErr_SetRaisedException(error);
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
    struct State *state = all->state;
    size_t i;

    all->table = make_table();
    if (!all->table)
        return -1;
    for (i = 0; i < (size_t)PyList_GET_SIZE(all->table) && i < PROBES_MAX; i++)
        if (init_probe(state, &all->probes[i],
                       PyList_GET_ITEM(all->table, (Py_ssize_t)i)) < 0)
            return -1;
    all->count = i;
    return 0;
}

static int calibrate(struct Calibration *all)
{
    if (init(all) < 0 || arm(all) < 0 || time_all(all) < 0)
        return -1;
    conclude(all);
    return all->state->precise ? Steps_calibrate(all->state, all->cost) : 0;
}

int Calibration_start(struct State *state, bool timeline)
{
    static const int64_t none[HOOK_KINDS];
    struct Calibration all = {.state = state};
    uint64_t ticks = Clock_read(&state->engine.clock);
    pid_t pid = getpid();
    int result, kind;

    // The lane before the rings are made: one that a hook makes here has none,
    // and where there is a timeline its hooks would leave their plain course.
    if (!Hooks_lane(state, ticks)) {
        PyErr_NoMemory();
        return -1;
    }
    Lanes_reset(&state->engine.lanes, none, timeline, ticks);
    result = calibrate(&all);
    disarm(&all);
    Py_XDECREF(all.table);
    // A child that was forked meanwhile traces nothing.
    if (result == 0 && getpid() == pid) {
        for (kind = 0; kind < HOOK_KINDS; kind++)
            state->engine.cost[kind] = llround(all.cost[kind]);
        return 0;
    }
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError,
                        "the cost of a hook cannot be measured");
    return -1;
}
