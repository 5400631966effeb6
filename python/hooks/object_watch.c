// SPDX-License-Identifier: MIT
#include "python/hooks/object_watch.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "python/hooks/adopt.h"
#include "python/hooks/frame_stack.h"
#include "python/hooks/thread_state.h"
#include "tracer/base/random.h"

#include <math.h>

#define PERIOD_S 1.0 // Mean seconds from the beginning of a window to the next.
// Seconds from the first step to the second. Each further step comes after
// twice the time, until PERIOD_S.
#define FIRST_S 0.02
// A wait for the GIL is called late if it takes longer than LATE_S. A thread
// releases the GIL after 5 ms, unless it runs C code.
#define LATE_S 6e-3
// A window ends early if it has TOO_MANY times the planned number of births and
// deaths.
#define TOO_MANY 4.0
#define MOST_STEPS 8 // The time grows for this many steps.

static struct ObjectBoard *board_of(const struct State *state)
{
    return &state->engine.session->objects;
}

#if PY_VERSION_HEX < 0x030D0000
// CPython 3.12 has no tracer of objects.
typedef enum { PyRefTracer_CREATE, PyRefTracer_DESTROY } PyRefTracerEvent;
typedef int (*PyRefTracer)(PyObject *, PyRefTracerEvent, void *);

static int PyRefTracer_SetTracer(PyRefTracer tracer, void *data)
{
    (void)tracer, (void)data;
    return -1;
}

static PyRefTracer PyRefTracer_GetTracer(void **data)
{
    (void)data;
    return NULL;
}
#endif

static const char *const TOO_OLD =
    "CPython 3.12 does not report objects: use 3.13 or newer";
static const char *const NO_DEATHS =
    "CPython 3.13.0 to 3.13.2 do not report most deaths: use 3.13.3 or newer";
static const char *const TAKEN =
    "tracemalloc or another tool has CPython's only place for a tracer of "
    "objects";

#define REMOVED 2  // PyRefTracer_TRACKER_REMOVED, from 3.15 on.
#define PROBES 250 // Objects that are made to measure the cost of an event.
#define COLD 1.5   // Factor for the cost, because programs use the caches, too.

// --- Names -------------------------------------------------------------------

// Returns the text of a str, or NULL if Python would have to allocate it.
static const char *ascii(PyObject *text)
{
    if (!text || !PyUnicode_CheckExact(text) || !PyUnicode_IS_ASCII(text))
        return NULL;
    return PyUnicode_DATA(text);
}

static bool is_shown(const char *module)
{
    return module && strcmp(module, "builtins") != 0 &&
           strcmp(module, "__main__") != 0;
}

// Writes a type's name with its module, as a traceback shows it. If the name is
// too long, its beginning is missing. Allocates nothing.
static void write_name(char *out, const PyTypeObject *type)
{
    const char *module = NULL, *name = NULL;
    size_t size;

    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE) {
        name = ascii(((const PyHeapTypeObject *)type)->ht_qualname);
        if (type->tp_dict)
            module = ascii(PyDict_GetItemWithError(
                type->tp_dict, ocular_state.names[NAME_MODULE]));
    }
    if (!name)
        name = type->tp_name;
    size = strlen(name);
    if (is_shown(module) && strlen(module) + size + 1 < OBJECT_NAME) {
        snprintf(out, OBJECT_NAME, "%s.%s", module, name);
        return;
    }
    if (size >= OBJECT_NAME)
        name += size - OBJECT_NAME + 1;
    while ((*name & 0xC0) == 0x80) // A byte inside a character.
        name++;
    snprintf(out, OBJECT_NAME, "%s", name);
}

// --- The tracer --------------------------------------------------------------

static struct ObjectsTime time_now(void)
{
    return (struct ObjectsTime){Clock_read(&ocular_state.engine.clock),
                                Now_ns(CLOCK_PROCESS_CPUTIME_ID)};
}

static int trace(PyObject *object, PyRefTracerEvent event, void *data);

// Sets the tracer, or removes it if `on` is false. Does not clear an exception
// that is set. (From 3.15 on, CPython keeps the old tracer if one is set.)
static void set_tracer(bool on)
{
    PyObject *error = PyErr_GetRaisedException();

    ocular_state.watch.sets = true;
    PyRefTracer_SetTracer(on ? trace : NULL, NULL);
    ocular_state.watch.sets = false;
    PyErr_SetRaisedException(error);
}

static bool has_tracer(void)
{
    void *data;

    return PyRefTracer_GetTracer(&data) == trace;
}

__attribute__((noinline)) static uint32_t meet_type(struct Objects *objects,
                                                    PyTypeObject *type)
{
    PyObject *error = PyErr_GetRaisedException();
    bool names = type == &PyCode_Type ||
                 PyType_FastSubclass(type, Py_TPFLAGS_TYPE_SUBCLASS);
    char name[OBJECT_NAME];

    write_name(name, type);
    PyErr_SetRaisedException(error);
    return Objects_meet_type(objects, type, name, names);
}

__attribute__((noinline)) static void
meet_pair(struct Objects *objects, PyObject *object, PyObject *code)
{
    PyTypeObject *type = Py_TYPE(object);
    uint32_t number = Objects_find_type(objects, type);
    const struct Code *found = code ? Adopt_find(&ocular_state, code) : NULL;

    if (!number)
        number = meet_type(objects, type);
    Objects_meet_pair(objects, object, number, code, found ? found->hot.id : 0);
}

__attribute__((noinline)) static void check(struct Objects *objects)
{
    struct ObjectsTime now;

    if (!Objects_is_over(objects, Clock_read(&ocular_state.engine.clock)))
        return;
    now = time_now();
    Objects_end(objects, &now);
    set_tracer(false);
}

// The tracer was called although no window is open.
__attribute__((noinline)) static int note_other(struct Objects *objects,
                                                int event)
{
    // Another tool has replaced Ocular's tracer, so the counts of the window
    // are lost.
    if (event == REMOVED && objects && !ocular_state.watch.sets) {
        objects->phase = OBJECTS_CLOSED;
        objects->collecting = false;
    }
    // Another tool has set Ocular's tracer again, because it had found this
    // tracer before.
    if (event != REMOVED && has_tracer())
        set_tracer(false);
    return 0;
}

// CPython calls the tracer with a new object, or with an object that dies. An
// exception may be set. The call can also come from another interpreter, which
// may have its own GIL.
static int trace(PyObject *object, PyRefTracerEvent event, void *data)
{
    const PyThreadState *state =
        ThreadState_is_found() ? ThreadState_fast() : THREAD_STATE_CALL();
    struct Objects *objects;
    PyTypeObject *type;
    uint32_t number;

    (void)data;
    if (!state || state->interp != ocular_state.watch.interpreter)
        return 0;
    objects = ocular_state.watch.objects;
    if (objects && objects->collecting && (int)event != REMOVED) {
        number = Objects_find_type(objects, Py_TYPE(object));
        Objects_collect(objects, object,
                        number ? number : meet_type(objects, Py_TYPE(object)),
                        event == PyRefTracer_CREATE);
        return 0;
    }
    if ((int)event == REMOVED || !objects || objects->phase != OBJECTS_OPEN)
        return note_other(objects, (int)event);
    type = Py_TYPE(object);
    if (event == PyRefTracer_CREATE) {
        const void *code = (const void *)FrameStack_running(state);

        if (!Objects_born(objects, object, type, code))
            meet_pair(objects, object, (PyObject *)code);
    } else {
        number = Objects_find_type(objects, type);
        Objects_died(objects, object,
                     number ? number : meet_type(objects, type));
    }
    if (Objects_must_check(objects))
        check(objects);
    return 0;
}

// --- Windows -----------------------------------------------------------------

// Returns true if CPython reports all deaths (gh-130382).
static bool counts_deaths(void)
{
    return Py_Version >= 0x030D0300;
}

// Returns the least ticks in which PROBES objects are born and die.
static uint64_t time_probes(const struct Clock *clock)
{
    uint64_t least = UINT64_MAX;

    for (int round = 0; round < 4; round++) {
        uint64_t ticks = Clock_read(clock);

        for (int i = 0; i < PROBES; i++)
            Py_XDECREF(PyFloat_FromDouble(i));
        ticks = Clock_read(clock) - ticks;
        if (ticks < least)
            least = ticks;
    }
    return least;
}

// Returns the seconds that the tracer takes for one birth or death.
static double measure(struct State *state)
{
    struct Objects *objects = state->watch.objects;
    const struct Clock *clock = &state->engine.clock;
    struct ObjectsTime now = time_now();
    double without = (double)time_probes(clock), with;

    Objects_open(objects, &now, PERIOD_S, INFINITY, false);
    objects->check = objects->left = OBJECT_CHECK;
    set_tracer(true);
    with = (double)time_probes(clock);
    set_tracer(false);
    objects->phase = OBJECTS_CLOSED;
    return fmax(with - without, PROBES) / (2 * PROBES) * COLD / Clock_hz(clock);
}

static void begin(struct State *state)
{
    struct ObjectWatch *watch = &state->watch;
    struct ObjectsTime now;

    watch->objects = watch->fresh;
    watch->fresh = NULL;
    watch->interpreter = PyInterpreterState_Get();
    Objects_init(watch->objects, Clock_hz(&state->engine.clock),
                 counts_deaths());
    watch->objects->event_s = measure(state);
    now = time_now();
    Objects_fold(watch->objects, &now);
}

// Ends the window if it is open, but does not remove the tracer.
static void end(struct Objects *objects)
{
    struct ObjectsTime now = time_now();

    if (objects->phase == OBJECTS_OPEN && has_tracer())
        Objects_end(objects, &now);
}

// Begins the next window.
static void open_window(struct ObjectWatch *watch, double rate, double period_s)
{
    struct Objects *objects = watch->objects;
    struct ObjectsTime now = time_now();
    double s = period_s, events = INFINITY;

    if (isfinite(rate)) {
        s = Objects_plan(objects, rate, period_s,
                         Random_next(&watch->random) & 1);
        events = TOO_MANY * rate * period_s / objects->event_s;
    }
    Objects_open(objects, &now, fmin(s, period_s), events, s < period_s);
    objects->late = watch->late;
    if (!has_tracer())
        set_tracer(true);
}

// Adds the counts of the window to the sums, and fills the next table.
static void fold(struct State *state)
{
    struct ObjectWatch *watch = &state->watch;
    struct ObjectsTime now = time_now();
    counter_t *cost_s = &state->engine.objects_s;

    Counter_set_double(cost_s, Counter_get_double(cost_s) +
                                   Objects_fold(watch->objects, &now));
    if (watch->table)
        ObjectTable_fill(watch->table, watch->objects);
}

static void step(struct State *state, double rate, double period_s)
{
    struct ObjectWatch *watch = &state->watch;
    void *data;

    watch->taken = PyRefTracer_GetTracer(&data) && !has_tracer();
    if (!watch->objects && !watch->taken && watch->fresh)
        begin(state);
    if (!watch->objects)
        return;
    end(watch->objects);
    fold(state);
    watch->open = !watch->taken && rate > 0;
    watch->collects = watch->open && Objects_may_collect(watch->objects, rate);
    if (watch->open)
        open_window(watch, rate, period_s);
    else if (has_tracer())
        set_tracer(false);
}

void ObjectWatch_end(struct State *state)
{
    state->watch.collects = false;
    if (state->watch.objects) {
        end(state->watch.objects);
        state->watch.objects->collecting = false;
    }
    if (has_tracer())
        set_tracer(false);
}

void ObjectWatch_collect(struct State *state, bool begins)
{
    struct ObjectWatch *watch = &state->watch;
    void *data;

    if (!watch->objects)
        return;
    if (begins && watch->collects && !PyRefTracer_GetTracer(&data))
        set_tracer(true);
    watch->objects->collecting = begins && watch->collects && has_tracer();
    if (!begins && watch->objects->phase != OBJECTS_OPEN && has_tracer())
        set_tracer(false);
}

// Makes the memory that the next step needs, if CPython reports objects.
static void prepare(struct ObjectWatch *watch)
{
    if (Py_Version < 0x030D0000)
        return;
    if (!watch->objects && !watch->fresh)
        watch->fresh = Heap_zeroed(1, sizeof *watch->fresh);
    if (!watch->table)
        watch->table = Heap_zeroed(1, sizeof *watch->table);
}

static const char *trouble_of(const struct ObjectWatch *watch)
{
    if (Py_Version < 0x030D0000)
        return TOO_OLD;
    return watch->taken ? TAKEN : counts_deaths() ? NULL : NO_DEATHS;
}

// --- Sessions ----------------------------------------------------------------

bool ObjectWatch_is_due(struct State *state, double now_s)
{
    struct ObjectWatch *watch = &state->watch;

    if (!ObjectBoard_is_asked(board_of(state)))
        return watch->open ||
               (watch->objects && !ObjectBoard_is_kept(board_of(state)));
    if (now_s < watch->next_s)
        return false;
    prepare(watch);
    return true;
}

void ObjectWatch_step(struct State *state, double rate, double wait_s)
{
    struct ObjectWatch *watch = &state->watch;
    const struct ObjectBoard *board = board_of(state);
    double period_s = fmin(FIRST_S * (1 << watch->steps), PERIOD_S) *
                      Random_factor(&watch->random);

    watch->next_s = Now_s(CLOCK_MONOTONIC) + period_s;
    watch->steps += watch->steps < MOST_STEPS;
    if (state->phase != PHASE_TRACING)
        return;
    watch->late = wait_s > LATE_S;
    if (ObjectBoard_is_kept(board))
        step(state, ObjectBoard_is_asked(board) ? rate : 0, period_s);
    else
        ObjectWatch_stop(state);
}

void ObjectWatch_publish(struct State *state)
{
    struct ObjectWatch *watch = &state->watch;

    watch->table =
        ObjectBoard_set(board_of(state), watch->table, trouble_of(watch));
}

double ObjectWatch_pause(const struct State *state, double now_s)
{
    if (state->watch.open || ObjectBoard_is_asked(board_of(state)))
        return fmax(state->watch.next_s - now_s, 0);
    return INFINITY;
}

void ObjectWatch_finish(struct State *state)
{
    if (!state->watch.objects)
        return;
    fold(state);
    ObjectWatch_publish(state);
}

void ObjectWatch_stop(struct State *state)
{
    struct ObjectWatch *watch = &state->watch;

    ObjectWatch_end(state);
    Heap_free(watch->objects);
    Heap_free(watch->fresh);
    Heap_free(watch->table);
    *watch = (struct ObjectWatch){.random = watch->random};
}
