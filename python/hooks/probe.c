// SPDX-License-Identifier: MIT
// See probe.h.
#include "python/hooks/probe.h"
#include "python/hooks/adopt.h"
#include "python/hooks/median.h"
#include "python/hooks/tools.h"

#include <string.h>

#define WARM_ROUNDS 4 // the interpreter specialises the programs
#define HOOKED_RUNS (PROBE_PASSES * (WARM_ROUNDS + PROBE_ROUNDS))

static const char *const KIND_NAMES[PROBE_KINDS] = {"call", "resume", "loop",
                                                    "far loop"};

int Probe_init(struct State *state, struct Probe *probe, PyObject *row)
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
    probe->counters = Adopt_probe(state, probe->code);
    return probe->counters ? 0 : -1;
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

int Probe_arm(struct State *state, const struct Probe *probe)
{
    PyObject *events = events_of(state, probe->kind);
    int done = events ? Tools_set_local(state, probe->code, events) : -1;

    Py_XDECREF(events);
    return done < 0 ? -1 : 0;
}

void Probe_disarm(struct State *state, const struct Probe *probe)
{
    if (Tools_set_local(state, probe->code, state->no_events) < 0)
        PyErr_Clear();
}

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

    for (i = 0; i < code->layout.site_count; i++)
        if (code->layout.sites[i].kind >= first &&
            code->layout.sites[i].kind <= last &&
            !code->layout.sites[i].redundant)
            hits += Counter_get(&code->layout.sites[i].hits);
    return (double)hits / HOOKED_RUNS;
}

// With all hits counted.
static uint64_t self_of(const struct Probe *probe)
{
    Counting_catch_up(&ocular_state.engine.counting);
    return Counter_get(&probe->counters->hot.self_cycles);
}

// All runs of a kind follow each other: in turns with others, the CPU would not
// predict their jumps as it does those of a program that runs. 0, or -1 with an
// exception.
static int time_runs(const struct State *state, const struct Probe *probe,
                     bool hooked, PyObject *run, struct Runs *runs)
{
    PyObject *callee = hooked ? probe->hooked_callee : probe->callee;
    double ticks[PROBE_ROUNDS], cycles[PROBE_ROUNDS];
    int round;

    for (round = -WARM_ROUNDS; round < PROBE_ROUNDS; round++) {
        uint64_t before = self_of(probe);
        int64_t taken = time_run(state, run, callee, probe->argument);

        if (taken < 0)
            return -1;
        if (round < 0)
            continue;
        ticks[round] = (double)taken;
        cycles[round] = (double)(self_of(probe) - before);
    }
    runs->self = Median_of(cycles, PROBE_ROUNDS);
    runs->ticks = Median_of(ticks, PROBE_ROUNDS);
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

int Probe_time(const struct State *state, struct Probe *probe)
{
    if (keep_least(state, probe, false, probe->base,
                   &probe->least[PROBE_BASE]) < 0 ||
        keep_least(state, probe, false, probe->run, &probe->least[PROBE_BARE]) <
            0 ||
        keep_least(state, probe, true, probe->hooked_run,
                   &probe->least[PROBE_HOOKED]) < 0)
        return -1;
    return 0;
}

// Of a call's two hooks a part lies within the callee's span, from enter's
// reading of the counter to leave's, and the rest in the caller's. What is left
// of the callee's span is to be what the call adds to its caller untraced: to
// be called is a function's own cost.
void Probe_sum_up(struct Probe *probe)
{
    const struct Code *counters = probe->counters;
    const struct Runs *least = probe->least;

    probe->calls = (double)Counter_get(&counters->hot.entries) / HOOKED_RUNS;
    probe->jumps = hits_of(counters, SITE_JUMP, SITE_JUMP);
    probe->branches = hits_of(counters, SITE_BRANCH, SITE_BRANCH_RIGHT);
    probe->whole = least[PROBE_HOOKED].ticks - least[PROBE_BARE].ticks;
    probe->inside = least[PROBE_HOOKED].self -
                    (least[PROBE_BARE].ticks - least[PROBE_BASE].ticks);
}
