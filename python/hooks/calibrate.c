// SPDX-License-Identifier: MIT
// Times the programs of ocular/_probes.py at start, and keeps those that make
// calls. During the session they stay armed, and one by one they run again, on
// a traced thread but with a record of ours. Interpreter's lock held.
#include "python/hooks/calibrate.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "python/hooks/hook_costs.h"
#include "python/hooks/own_trace.h"
#include "python/hooks/steps.h"
#include "python/hooks/thread_state.h"
#include "python/hooks/tools.h"
#include "tracer/budget/control.h"

#include <math.h>
#include <time.h>

// Timing hooks again:
#define PAUSE_S 0.1 // at least, until the next time
#define PAUSE_MOST_S 5.0
#define PART 0.05        // of the budget, at most
#define USUAL_SHARE 0.01 // of a core, where there is no budget
#define WARM_AGAIN 2     // rounds: they are specialised
#define FACTOR_MOST 8.0  // beyond is an accident

struct Calibration {
    struct State *state;
    PyObject *table; // keeps the programs
    struct Probes probes;
    double cost[HOOK_KINDS];   // ticks, at start
    struct ThreadTrace *trace; // of a thread that runs one of them again
    struct Contention contention;
    size_t next;         // of the probes
    unsigned long times; // since the start
    uint64_t due;        // ticks
    double share;        // of a core: the budget
    bool running;        // one of them, or all at start
    bool stopped;        // meanwhile
};

// In two passes, of which the better one counts: a slow phase of the machine
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

// Hooks take so many times what they took at start.
static void set_cost(struct Calibration *all, double factor)
{
    struct Engine *engine = &all->state->engine;
    int kind;

    for (kind = 0; kind < HOOK_KINDS; kind++)
        engine->cost[kind] = llround(all->cost[kind] * factor);
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

// Those that are run again: calls, if their hooks have seen something. The
// others go now.
static void keep_calls(struct Calibration *all)
{
    size_t i, count = 0;

    for (i = 0; i < all->probes.count; i++) {
        const struct Probe *probe = &all->probes.probes[i];

        if (probe->kind == PROBE_CALL && probe->least[PROBE_HOOKED].self > 0) {
            all->probes.probes[count++] = *probe;
            continue;
        }
        Probe_disarm(all->state, probe);
        PyList_SetItem(all->table, (Py_ssize_t)i, Py_NewRef(Py_None));
    }
    all->probes.count = count;
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
    ThreadTrace_free(all->trace);
    Py_XDECREF(all->table);
    Heap_free(all);
}

static int init(struct Calibration *all, bool timeline)
{
    struct State *state = all->state;
    size_t i;

    Contention_init(&all->contention, Clock_hz(&state->engine.clock));
    all->trace = ThreadTrace_new(0, state->engine.registry, &all->contention);
    if (all->trace && timeline)
        all->trace->ring = Ring_new(NULL);
    if (!all->trace || (timeline && !all->trace->ring)) {
        PyErr_NoMemory();
        return -1;
    }
    all->table = make_table();
    if (!all->table)
        return -1;
    for (i = 0; i < (size_t)PyList_GET_SIZE(all->table) && i < PROBES_MAX; i++)
        if (Probe_init(state, &all->probes.probes[i],
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
    keep_calls(all);
    return 0;
}

int Calibration_start(struct State *state, bool timeline)
{
    static const int64_t none[HOOK_KINDS];
    uint64_t ticks = Clock_read(&state->engine.clock);
    struct Calibration *all = Heap_zeroed(1, sizeof *all);
    int result;

    OwnTrace_take_back();
    // The record before the rings are made: one that a hook makes here has
    // none, and where there is a timeline its hooks would bail out.
    if (!all || !OwnTrace_get(state, ticks)) {
        Heap_free(all);
        PyErr_NoMemory();
        return -1;
    }
    all->state = state;
    all->share = USUAL_SHARE;
    state->calibration = all;
    ThreadTraces_reset(&state->engine.traces, none, timeline, ticks);
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
        for (i = 0; i < all->probes.count; i++)
            Probe_disarm(state, &all->probes.probes[i]);
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

bool Calibration_is_due(const struct Calibration *all,
                        const struct ThreadTrace *trace,
                        const PyThreadState *thread, uint64_t ticks)
{
    return all && !all->running && all->probes.count > 0 &&
           !trace->stands_for &&
           !Control_is_ahead(all->due, ticks,
                             (uint64_t)(PAUSE_MOST_S * all->contention.hz)) &&
           all->state->phase == PHASE_TRACING &&
           ThreadState_is_in_callback(thread) &&
           !ThreadState_is_watched(thread) && !PyErr_Occurred();
}

struct ThreadTrace *Calibration_begin(struct Calibration *all,
                                      struct ThreadTrace *own)
{
    static const int64_t none[HOOK_KINDS];
    const struct Clock *clock = &all->state->engine.clock;

    all->running = true;
    Contention_init(&all->contention, Clock_hz(clock));
    ThreadTrace_reset(all->trace, none, Clock_read(clock));
    all->next = (all->next + 1) % all->probes.count;
    all->trace->typical_ticks =
        (uint64_t)(all->probes.probes[all->next].least[PROBE_HOOKED].ticks *
                   (WARM_AGAIN + PROBE_ROUNDS));
    all->trace->cpu_start_ns = Now_ns(CLOCK_THREAD_CPUTIME_ID);
    all->trace->stands_for = own;
    return all->trace;
}

static bool is_ours(const struct Calibration *all, PyTracebackObject *entry)
{
    PyCodeObject *code = PyFrame_GetCode(entry->tb_frame);
    int result = PyUnicode_Compare(code->co_filename,
                                   all->probes.probes[0].code->co_filename);

    Py_DECREF(code);
    return result == 0;
}

// An error of our own programs ends with them: there was no room for them on
// the stack, or no memory. Whatever else was raised is the program's, as if
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

    if (Probe_time_hooked(state, probe, WARM_AGAIN, &hooked) < 0)
        return -1;
    factor = hooked.self / probe->least[PROBE_HOOKED].self;
    return factor > 1 / FACTOR_MOST && factor < FACTOR_MOST ? factor : NAN;
}

int Calibration_renew(struct Calibration *all)
{
    double factor;

    // Another tool would be shown hundreds of calls that are none of its
    // program's.
    Tools_watch(all->state);
    if (all->state->ids_lost || !Tools_are_alone(all->state))
        return 0;
    factor = factor_of(all->state, &all->probes.probes[all->next]);
    if (factor < 0)
        return pass_on(all);
    if (!isnan(factor) && !all->stopped && all->trace->stands_for) {
        set_cost(all, factor);
        all->times++;
    }
    return 0;
}

uint64_t Calibration_end(struct Calibration *all)
{
    uint64_t ticks =
        all->trace->stands_for ? OwnTrace_lent_ticks(all->trace) : 0;
    double hz = all->contention.hz;
    double pause = fmax((double)ticks / hz / (PART * all->share), PAUSE_S);

    all->due = Clock_read(&all->state->engine.clock) +
               (uint64_t)(fmin(pause, PAUSE_MOST_S) * hz);
    all->running = false;
    all->trace->stands_for = NULL;
    if (all->trace->ring)
        Ring_clear(all->trace->ring);
    if (all->stopped)
        free_all(all);
    return ticks;
}
