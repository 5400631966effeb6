// SPDX-License-Identifier: MIT
// Runs the programs of ocular/_probes.py with and without hooks, in turns. What
// a hook costs there is the median over the rounds, so that neither a slow
// phase of the machine nor a single interruption is taken for it, and what it
// costs altogether the median over the programs. During the session they stay
// armed, and one by one they run again, on a traced thread but on a lane of
// ours. Interpreter's lock held.
#include "python/hooks/calibrate.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "python/hooks/adopt.h"
#include "python/hooks/own_lane.h"
#include "python/hooks/steps.h"
#include "python/hooks/thread_state.h"
#include "python/hooks/tools.h"
#include "tracer/budget/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WARM_ROUNDS 4 // the interpreter specialises the programs
#define ROUNDS 5
#define PASSES 2
#define RUNS (PASSES * (WARM_ROUNDS + ROUNDS)) // with hooks
#define PROBES_MAX 64
// Of what a call's two hooks cost, what a throw costs that nothing is done
// about. Measured (docs/overhead.md); what leaving costs is no measure of it:
// only the sum of a call's two hooks is known.
#define DARK_THROW_PART 0.4
// Timing hooks again:
#define PAUSE_S 0.1 // at least, until the next time
#define PAUSE_MOST_S 5.0
#define PART 0.05        // of the budget, at most
#define USUAL_SHARE 0.01 // of a core, where there is no budget
#define WARM_AGAIN 2     // rounds: they are specialised
#define FACTOR_MOST 8.0  // beyond is an accident

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
    double cost[HOOK_KINDS]; // ticks, at start
    struct Lane *lane;       // of a thread that runs one of them again
    struct Contention contention;
    size_t next;         // of the probes
    unsigned long times; // since the start
    uint64_t due;        // ticks
    double share;        // of a core: the budget
    bool running;        // one of them, or all at start
    bool stopped;        // meanwhile
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
                     bool hooked, PyObject *run, int warm, struct Runs *runs)
{
    PyObject *callee = hooked ? probe->hooked_callee : probe->callee;
    double ticks[ROUNDS], cycles[ROUNDS];
    int round;

    for (round = -warm; round < ROUNDS; round++) {
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

    if (time_runs(state, probe, hooked, run, WARM_ROUNDS, &runs) < 0)
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

// Hooks take so many times what they took at start.
static void set_cost(struct Calibration *all, double factor)
{
    struct Engine *engine = &all->state->engine;
    int kind;

    for (kind = 0; kind < HOOK_KINDS; kind++)
        engine->cost[kind] = llround(all->cost[kind] * factor);
    Lanes_set_cost(&engine->lanes, engine->cost);
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

// Goes on after errors: the tool's id may be another's by now.
static void disarm(struct State *state, const struct Probe *probe)
{
    if (Tools_set_local(state, probe->code, state->no_events) < 0)
        PyErr_Clear();
}

// Those that are run again: calls, if their hooks have seen something. The
// others go now.
static void keep_calls(struct Calibration *all)
{
    size_t i, count = 0;

    for (i = 0; i < all->count; i++) {
        const struct Probe *probe = &all->probes[i];

        if (probe->kind == PROBE_CALL && probe->least[HOOKED].self > 0) {
            all->probes[count++] = *probe;
            continue;
        }
        disarm(all->state, probe);
        PyList_SetItem(all->table, (Py_ssize_t)i, Py_NewRef(Py_None));
    }
    all->count = count;
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

static void free_all(struct Calibration *all)
{
    Lane_free(all->lane);
    Py_XDECREF(all->table);
    Heap_free(all);
}

static int init(struct Calibration *all, bool timeline)
{
    struct State *state = all->state;
    size_t i;

    Contention_init(&all->contention, Clock_hz(&state->engine.clock));
    all->lane = Lane_new(0, state->engine.registry, &all->contention);
    if (all->lane && timeline)
        all->lane->ring = Ring_new(NULL);
    if (!all->lane || (timeline && !all->lane->ring)) {
        PyErr_NoMemory();
        return -1;
    }
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
    if (arm(all) < 0 || time_all(all) < 0)
        return -1;
    conclude(all);
    if (all->state->precise && Steps_calibrate(all->state, all->cost) < 0)
        return -1;
    keep_calls(all);
    return 0;
}

int Calibration_start(struct State *state, bool timeline)
{
    static const int64_t none[HOOK_KINDS];
    uint64_t ticks = Clock_read(&state->engine.clock);
    struct Calibration *all = Heap_zeroed(1, sizeof *all);
    int result;

    OwnLane_take_back();
    // The lane before the rings are made: one that a hook makes here has none,
    // and where there is a timeline its hooks would leave their plain course.
    if (!all || !OwnLane_get(state, ticks)) {
        Heap_free(all);
        PyErr_NoMemory();
        return -1;
    }
    all->state = state;
    all->share = USUAL_SHARE;
    state->calibration = all;
    Lanes_reset(&state->engine.lanes, none, timeline, ticks);
    all->running = true;
    result = init(all, timeline) == 0 ? calibrate(all) : -1;
    all->running = false;
    // A child that was forked meanwhile traces nothing.
    if (all->stopped) {
        free_all(all);
        result = -1;
    }
    if (result == 0) {
        set_cost(all, 1);
        return 0;
    }
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError,
                        "the cost of a hook cannot be measured");
    return -1;
}

void Calibration_stop(struct State *state)
{
    struct Calibration *all = state->calibration;
    PyObject *error = PyErr_GetRaisedException();
    size_t i;

    state->calibration = NULL;
    if (all) {
        for (i = 0; i < all->count; i++)
            disarm(state, &all->probes[i]);
        all->stopped = true;
        if (!all->running)
            free_all(all);
    }
    PyErr_SetRaisedException(error);
}

// --- Again, in the midst of the program ------------------------------------

unsigned long Calibration_count(const struct Calibration *all)
{
    return all ? all->times : 0;
}

void Calibration_allow(struct Calibration *all, double share)
{
    all->share = share > 0 ? share : USUAL_SHARE;
}

bool Calibration_is_due(const struct Calibration *all, const struct Lane *lane,
                        const PyThreadState *thread, uint64_t ticks)
{
    return all && !all->running && all->count > 0 && !lane->stands_for &&
           !Policy_is_ahead(all->due, ticks,
                            (uint64_t)(PAUSE_MOST_S * all->contention.hz)) &&
           all->state->phase == PHASE_TRACING &&
           ThreadState_is_in_callback(thread) &&
           !ThreadState_is_watched(thread) && !PyErr_Occurred();
}

struct Lane *Calibration_begin(struct Calibration *all, struct Lane *own)
{
    static const int64_t none[HOOK_KINDS];
    const struct Clock *clock = &all->state->engine.clock;

    all->running = true;
    Contention_init(&all->contention, Clock_hz(clock));
    Lane_reset(all->lane, none, Clock_read(clock));
    all->next = (all->next + 1) % all->count;
    all->lane->usual_ticks =
        (uint64_t)(all->probes[all->next].least[HOOKED].ticks *
                   (WARM_AGAIN + ROUNDS));
    all->lane->cpu_start_ns = Now_ns(CLOCK_THREAD_CPUTIME_ID);
    all->lane->stands_for = own;
    return all->lane;
}

static bool is_ours(const struct Calibration *all, PyTracebackObject *entry)
{
    PyCodeObject *code = PyFrame_GetCode(entry->tb_frame);
    int result =
        PyUnicode_Compare(code->co_filename, all->probes[0].code->co_filename);

    Py_DECREF(code);
    return result == 0;
}

// What our own programs have met is over with them: there was no room for them
// on the stack, or no memory. Whatever else was raised is the program's, as if
// by its own next instruction, and tells nothing of ours.
static int pass_on(const struct Calibration *all)
{
    PyObject *error = PyErr_GetRaisedException();
    PyObject *traceback = PyException_GetTraceback(error);
    PyTracebackObject *entry = (PyTracebackObject *)traceback;

    while (entry && is_ours(all, entry))
        entry = entry->tb_next;
    if (!entry && (Py_IS_TYPE(error, (PyTypeObject *)PyExc_RecursionError) ||
                   Py_IS_TYPE(error, (PyTypeObject *)PyExc_MemoryError))) {
        Py_XDECREF(traceback);
        Py_DECREF(error);
        return 0;
    }
    PyException_SetTraceback(error, entry ? (PyObject *)entry : Py_None);
    Py_XDECREF(traceback);
    PyErr_SetRaisedException(error);
    return -1;
}

// How many times as long as at start its hooks take now, as far as a callee's
// span between its two hooks tells, most of which is theirs. Only that run:
// such phases may last less than two, and a difference of one from each would
// be neither's. NaN: an accident, or another tool has taken our id. -1 with an
// exception.
static double factor_of(const struct State *state, const struct Probe *probe)
{
    struct Runs hooked;
    double factor;

    if (time_runs(state, probe, true, probe->hooked_run, WARM_AGAIN, &hooked) <
        0)
        return -1;
    factor = hooked.self / probe->least[HOOKED].self;
    return factor > 1 / FACTOR_MOST && factor < FACTOR_MOST ? factor : NAN;
}

int Calibration_renew(struct Calibration *all)
{
    double factor;

    // Another tool would be shown hundreds of calls that are none of its
    // program's.
    Tools_watch(all->state);
    if (all->state->robbed || !Tools_are_alone(all->state))
        return 0;
    factor = factor_of(all->state, &all->probes[all->next]);
    if (factor < 0)
        return pass_on(all);
    if (!isnan(factor) && !all->stopped && all->lane->stands_for) {
        set_cost(all, factor);
        all->times++;
    }
    return 0;
}

uint64_t Calibration_end(struct Calibration *all)
{
    uint64_t ticks = all->lane->stands_for ? OwnLane_lent_ticks(all->lane) : 0;
    double hz = all->contention.hz;
    double pause = fmax((double)ticks / hz / (PART * all->share), PAUSE_S);

    all->due = Clock_read(&all->state->engine.clock) +
               (uint64_t)(fmin(pause, PAUSE_MOST_S) * hz);
    all->running = false;
    all->lane->stands_for = NULL;
    if (all->lane->ring)
        Ring_clear(all->lane->ring);
    if (all->stopped)
        free_all(all);
    return ticks;
}
