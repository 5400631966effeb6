// SPDX-License-Identifier: MIT
#include "python/module/tracing.h"
#include "python/hooks/adopt.h"
#include "python/hooks/calibrate.h"
#include "python/hooks/garbage_watch.h"
#include "python/hooks/hooks.h"
#include "python/hooks/interpreter_facts.h"
#include "python/hooks/loop_steps.h"
#include "python/hooks/object_watch.h"
#include "python/hooks/own_trace.h"
#include "python/hooks/raise_watch.h"
#include "python/hooks/tools.h"
#include "python/module/convert.h"
#include "python/module/final_timeline.h"
#include "python/service/governor.h"
#include "python/service/mask_watch.h"
#include "python/service/poll.h"
#include "python/service/strict.h"
#include "python/service/task_cursor.h"
#include "tracer/session/exports.h"
#include "tracer/session/lifetime.h"
#include "tracer/session/report.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define REPORT_FUNCTIONS 5
#define USERS_POLL_NS 1000000L

// --- Start -----------------------------------------------------------------

static int fill_filter(PyObject *list, struct Filter *filter,
                       int (*add)(struct Filter *, const char *))
{
    Py_ssize_t i;

    for (i = 0; i < PyList_GET_SIZE(list); i++) {
        const char *text = PyUnicode_AsUTF8(PyList_GET_ITEM(list, i));

        if (!text)
            return -1;
        if (add(filter, text) < 0) {
            PyErr_NoMemory();
            return -1;
        }
    }
    return 0;
}

static int start_session(struct State *state, const struct Config *wanted)
{
    struct Config config = *wanted;
    struct Session *session;
    char why[1024];
    int error;

    config.filter = &state->filter;
    error = Session_start(&session, &state->engine, &config, why, sizeof why);
    if (error) {
        PyErr_SetString(
            error == -ENOMEM ? PyExc_MemoryError : PyExc_RuntimeError, why);
        return -1;
    }
    state->engine.session = session;
    return 0;
}

// Undoes the completed steps of a start. An exception that is set stays set.
static void take_down(struct State *state)
{
    PyObject *error = PyErr_GetRaisedException();
    struct Session *session = state->engine.session;

    Hooks_remove(state);
    Governor_stop(&ocular_service);
    ObjectWatch_stop(state);
    ThreadList_release(&ocular_service.thread_list);
    if (session) {
        session->hands_over = true;
        Py_BEGIN_ALLOW_THREADS;
        Session_finish(session);
        Py_END_ALLOW_THREADS;
        state->engine.session = NULL;
        Session_free(session);
    }
    MaskWatch_stop();
    // Frees the rings of the threads' records.
    ThreadTraces_reset(&state->engine.traces, false, 0);
    Counting_reset(&state->engine.counting);
    Hooks_forget(state);
    // No thread reads the registry any more, so retired code is freed at once.
    Registry_free_retired(state->engine.registry);
    state->phase = PHASE_IDLE;
    PyErr_SetRaisedException(error);
}

static int set_up(struct State *state, const struct Request *request)
{
    struct Engine *engine = &state->engine;
    struct ThreadList *threads = &ocular_service.thread_list;
    struct OurThreads ours;

    Filter_init(&state->filter);
    if (fill_filter(request->exclude, &state->filter, Filter_exclude) < 0 ||
        fill_filter(request->include, &state->filter, Filter_include) < 0)
        return -1;
    Clock_start(&engine->clock);
    Contention_init(&engine->contention, Clock_hz(&engine->clock));
    Hooks_select(state, request->config.threshold);
    InterpreterFacts_version(engine->python, sizeof engine->python);
    snprintf(engine->command, sizeof engine->command, "%s", request->command);
    if (InterpreterFacts_switch_interval(state) < 0 ||
        Tools_choose(state, &request->config) < 0 || Tools_open(state) < 0 ||
        Calibration_run(state) < 0 || Tools_drop_unused(state) < 0)
        return -1;
    // If a thread of Ocular starts the trace, the thread's record ends here,
    // because only the calibration needed the record.
    if (Worker_is_here(&ocular_service.activation.worker) ||
        Worker_is_here(&ocular_service.child_starter.worker))
        OwnTrace_end();
    Contention_init(&engine->contention, Clock_hz(&engine->clock));
    // The rings are emptied before the collector starts, because the
    // calibration's events are not part of the timeline.
    ThreadTraces_reset(&engine->traces, request->config.timeline,
                       Clock_read(&engine->clock));
    Counting_reset(&engine->counting);
    if (start_session(state, &request->config) < 0)
        return -1;
    Poll_reset(&ocular_service.poll, state);
    Adopt_begin(state);
    state->tasks_ran = TaskCursor_finds(state);
    LoopSteps_start(state);
    state->phase = PHASE_TRACING;
    ThreadList_release(threads); // After a fork, drops the parent's list.
    ours = Service_threads(&ocular_service);
    ThreadList_update(threads, state, &ours);
    // The discovery tool gets its events first, so that adopted code has two
    // tools from the start. If the second tool came later, CPython would lose
    // INSTRUCTION events of the first one (gh-157900).
    RaiseWatch_start(state);
    if (Tools_arm(state) < 0 || Adopt_again(state) < 0 ||
        Adopt_running(state) < 0)
        return -1;
    GarbageWatch_start(state);
    return Governor_start(&ocular_service);
}

int Tracing_start(struct State *state, const struct Request *request)
{
    if (state->phase != PHASE_IDLE) {
        PyErr_SetString(PyExc_RuntimeError,
                        state->phase == PHASE_STOPPING
                            ? "Ocular is still stopping in another thread"
                            : "Ocular is tracing already: call "
                              "ocular.stop_tracing() first");
        return -1;
    }
    state->phase = PHASE_STARTING;
    state->inherited = false;
    if (set_up(state, request) == 0)
        return 0;
    take_down(state);
    return -1;
}

// --- Snapshot and export ---------------------------------------------------

static struct Session *use(struct State *state)
{
    if (state->phase != PHASE_TRACING) {
        PyErr_SetString(PyExc_RuntimeError,
                        "Ocular is not tracing: call ocular.start_tracing() "
                        "first");
        return NULL;
    }
    state->users++;
    return state->engine.session;
}

PyObject *Tracing_snapshot(struct State *state)
{
    struct Session *session = use(state);
    const struct Snapshot *snapshot;
    PyObject *dict = NULL;
    int error;

    if (!session)
        return NULL;
    Poll_now(&ocular_service.poll, state);
    if (TaskBoard_ask_group(&session->tasks, TASK_KEY_ALL))
        Waker_wake(&session->governor_waker);
    LineRows_ask(&session->lines);
    Py_BEGIN_ALLOW_THREADS;
    error = Session_refresh(session);
    Py_END_ALLOW_THREADS;
    snapshot = Publish_get(&session->publish);
    if (snapshot)
        dict = Convert_published(snapshot);
    else
        PyErr_Format(PyExc_RuntimeError, "no snapshot could be built: %s",
                     strerror(error ? -error : ENOMEM));
    Publish_put(&session->publish);
    state->users--;
    return dict;
}

static PyObject *raise_export(int error, PyObject *path)
{
    if (error == -ENODATA)
        PyErr_SetString(PyExc_RuntimeError,
                        "no timeline is kept: start tracing with "
                        "perfetto=True");
    else if (error == -ENOTSUP)
        PyErr_SetString(PyExc_RuntimeError,
                        "nothing is sampled, so that there are no stacks to "
                        "write");
    else if (error == -EBUSY)
        PyErr_SetString(PyExc_RuntimeError,
                        "another export is running: wait for it");
    else if (error == -ENOMEM)
        PyErr_NoMemory();
    else {
        errno = -error;
        PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path);
    }
    return NULL;
}

PyObject *Tracing_export(struct State *state, const char *path)
{
    struct Session *session = use(state);
    struct PerfettoResult result = {0};
    PyObject *name;
    int error;

    if (!session)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    error = Exports_write(session, path, true, NULL, 0, &result);
    Py_END_ALLOW_THREADS;
    state->users--;
    if (!error)
        return PyLong_FromUnsignedLongLong(result.bytes);
    name = PyUnicode_DecodeFSDefault(path);
    if (name)
        raise_export(error, name);
    Py_XDECREF(name);
    return NULL;
}

// --- The listing of a function -----------------------------------------------

PyObject *Tracing_detail(struct State *state, PyObject *object)
{
    const struct Code *code;
    struct ListingDetail detail;
    PyObject *rows;

    if (state->phase != PHASE_TRACING || !(code = Adopt_find(state, object)))
        Py_RETURN_NONE;
    Counting_catch_up(&state->engine.counting);
    if (ListingDetail_init(&detail, code, &code->poll.history,
                           &state->engine.opcodes) < 0)
        return PyErr_NoMemory();
    rows = Convert_detail(&detail, &state->engine.opcodes);
    ListingDetail_release(&detail);
    return rows;
}

// --- Stop ------------------------------------------------------------------

// Waits for threads that have released the GIL inside Tracing_snapshot or
// Tracing_export. A snapshot ends within two seconds, and an export is
// cancelled.
static void wait_for_users(struct State *state)
{
    const struct timespec pause = {0, USERS_POLL_NS};

    Exports_cancel(state->engine.session);
    while (state->users) {
        Py_BEGIN_ALLOW_THREADS;
        nanosleep(&pause, NULL);
        Py_END_ALLOW_THREADS;
    }
}

// Stores the functions that took most time in the whole run, with their
// details. Returns the number of functions with details. A function whose code
// object was freed has no detail.
static size_t choose_parts(struct State *state, const struct Snapshot *snapshot,
                           struct ReportPart *parts,
                           struct ListingDetail *details)
{
    struct Ranked first[REPORT_FUNCTIONS + 1];
    size_t i, most = REPORT_FUNCTIONS,
              count = Ranking_first(snapshot, first, REPORT_FUNCTIONS + 1);

    for (i = 0; i < count && i < most; i++) {
        const struct Function *function = first[i].function;
        const struct Code *code =
            function
                ? Registry_by_id(state->engine.registry, (uint32_t)function->id)
                : NULL;

        parts[i] = (struct ReportPart){.ranked = first[i]};
        if (code)
            CalledFrom_init(&parts[i].callers, code, state->engine.registry,
                            &state->engine.session->retired);
        if (code && ListingDetail_init(&details[i], code, &code->poll.history,
                                       &state->engine.opcodes) == 0)
            parts[i].detail = &details[i];
        // The garbage collector is listed in addition to the functions.
        most += code && code->who.garbage;
    }
    return i;
}

// Returns the text of the report.
static PyObject *report(struct State *state, const struct Snapshot *snapshot,
                        const struct FinalTimeline *timeline)
{
    struct ReportPart parts[REPORT_FUNCTIONS + 1];
    struct ListingDetail details[REPORT_FUNCTIONS + 1];
    struct Report report = {
        .snapshot = snapshot,
        .parts = parts,
        .part_count = choose_parts(state, snapshot, parts, details),
        .opcodes = &state->engine.opcodes,
        .brief = state->brief,
    };
    struct Bytes text;
    PyObject *result;
    size_t i;

    if (FinalTimeline_is_written(timeline))
        report.timeline = (struct ReportTimeline){
            .path = timeline->path,
            .bytes = timeline->result.bytes,
            .cpu_s = (double)timeline->result.cpu_ns / 1e9,
        };
    Bytes_init(&text);
    Report_write(&text, &report);
    result = text.error
                 ? PyErr_NoMemory()
                 : PyUnicode_DecodeUTF8((const char *)text.data,
                                        (Py_ssize_t)text.size, "replace");
    Bytes_release(&text);
    for (i = 0; i < report.part_count; i++)
        if (parts[i].detail)
            ListingDetail_release(&details[i]);
    return result;
}

// Writes messages about errors for the user to `out`, or an empty string.
static void describe_trouble(const struct State *state,
                             const struct Snapshot *snapshot,
                             const struct FinalTimeline *timeline, char *out,
                             size_t size)
{
    size_t length;

    *out = '\0';
    if (snapshot->sampler_trouble)
        snprintf(out, size, "%s", snapshot->sampler_trouble);
    if (state->ids_lost)
        snprintf(out, size,
                 "another tool took Ocular's sys.monitoring ids, events or "
                 "callbacks: nothing was counted after that");
    FinalTimeline_describe(timeline, out, size);
    length = strlen(out);
    if (length)
        out[length++] = '\n';
    Session_describe_missing(state->engine.session, out + length,
                             size - length);
}

static PyObject *results(struct State *state, const struct Snapshot *snapshot,
                         const struct FinalTimeline *timeline)
{
    char trouble[2 * PATH_MAX + 512];
    PyObject *text = report(state, snapshot, timeline);
    PyObject *dict = text ? Convert_snapshot(snapshot) : NULL;

    if (!dict) {
        Py_XDECREF(text);
        return NULL;
    }
    describe_trouble(state, snapshot, timeline, trouble, sizeof trouble);
    return Py_BuildValue(
        "(NNNNN)", dict, text,
        FinalTimeline_is_written(timeline)
            ? PyUnicode_DecodeFSDefault(timeline->path)
            : Py_NewRef(Py_None),
        *trouble ? PyUnicode_FromString(trouble) : Py_NewRef(Py_None),
        Py_NewRef(timeline->interruption ? timeline->interruption : Py_None));
}

// Ends tracing. The session builds its last snapshot.
static void finish(struct State *state)
{
    struct Session *session = state->engine.session;

    ObjectWatch_end(state);
    // Removing the hooks changes opcodes.
    Poll_all(state);
    Hooks_remove(state);
    Governor_stop(&ocular_service);
    ObjectWatch_finish(state);
    wait_for_users(state);
    Py_BEGIN_ALLOW_THREADS;
    Session_finish(session);
    Py_END_ALLOW_THREADS;
}

static void free_session(struct State *state)
{
    struct Session *session = state->engine.session;

    state->engine.session = NULL;
    Session_free(session);
    take_down(state);
    Strict_stop();
}

PyObject *Tracing_stop(struct State *state, bool write, PyObject *progress,
                       double seconds, PyObject *make_page)
{
    struct Session *session = state->engine.session;
    struct FinalTimeline timeline = {.path = "", .seconds = seconds};
    struct Snapshot *snapshot;
    PyObject *result = NULL;

    if (state->phase != PHASE_TRACING)
        Py_RETURN_NONE;
    finish(state);
    if (write && (session->timeline || session->config.profile))
        FinalTimeline_write(&timeline, session, progress);
    snapshot = Session_take(session);
    FinalTimeline_make_page(&timeline, make_page, snapshot);
    if (snapshot)
        result = results(state, snapshot, &timeline);
    else
        PyErr_NoMemory();
    Py_CLEAR(timeline.interruption);
    Snapshot_free(snapshot);
    free_session(state);
    return result;
}

void Tracing_end(struct State *state)
{
    if (state->phase != PHASE_TRACING)
        return;
    finish(state);
    free_session(state);
}
