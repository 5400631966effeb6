// SPDX-License-Identifier: MIT
// See final_timeline.h.
#include "python/module/final_timeline.h"
#include "ipc/base/now.h"
#include "python/module/convert.h"
#include "python/service/termination.h"
#include "tracer/timeline/output_name.h"

#include <errno.h>

#define NAME_TRIES 5

// Handles signals, then tells how far the file is. 0 or -1 with an exception.
static int tell(const struct FinalTimeline *timeline, double done,
                uint64_t bytes)
{
    PyObject *answer;

    if (PyErr_CheckSignals() < 0)
        return -1;
    if (!timeline->progress)
        return 0;
    answer = PyObject_CallFunction(timeline->progress, "dK", done,
                                   (unsigned long long)bytes);
    Py_XDECREF(answer);
    return answer ? 0 : -1;
}

// On the writing thread, without the interpreter's lock.
static bool watch(void *context, double done, uint64_t bytes)
{
    struct FinalTimeline *timeline = context;
    bool goes_on;

    // From the signal on there is not more time than it grants.
    if (Termination_is_asked() && !(timeline->limit.seconds > 0))
        timeline->limit.seconds =
            Termination_seconds() +
            (double)(Now_ns(CLOCK_MONOTONIC) - timeline->began_ns) / 1e9;

    PyEval_RestoreThread(timeline->thread);
    goes_on = tell(timeline, done, bytes) == 0;
    if (!goes_on)
        Py_XSETREF(timeline->interruption, PyErr_GetRaisedException());
    timeline->thread = PyEval_SaveThread();
    return goes_on;
}

void FinalTimeline_write(struct FinalTimeline *timeline,
                         struct Session *session, PyObject *progress)
{
    const struct ExportWatch watcher = {timeline, watch};
    int tries = 0;

    timeline->progress = progress;
    timeline->began_ns = Now_ns(CLOCK_MONOTONIC);
    atomic_store_explicit(&session->export.cancel, false, memory_order_relaxed);
    do { // another process may take the name while this one writes
        OutputName_choose(session->config.output, timeline->path);
        timeline->thread = PyEval_SaveThread();
        timeline->error =
            Export_write(&session->export, timeline->path, false, &watcher,
                         &timeline->limit, &timeline->result);
        PyEval_RestoreThread(timeline->thread);
    } while (timeline->error == -EEXIST && ++tries < NAME_TRIES);
}

// 0 or -1 with an exception.
static int take_path(struct FinalTimeline *timeline, PyObject *path)
{
    PyObject *bytes = NULL;

    if (!path || !PyUnicode_FSConverter(path, &bytes))
        return -1;
    snprintf(timeline->path, sizeof timeline->path, "%s",
             PyBytes_AS_STRING(bytes));
    Py_DECREF(bytes);
    return 0;
}

void FinalTimeline_make_page(struct FinalTimeline *timeline,
                             PyObject *make_page,
                             const struct Snapshot *snapshot)
{
    PyObject *path;

    if (!make_page || !snapshot || !FinalTimeline_is_written(timeline))
        return;
    path = PyObject_CallFunction(make_page, "NN",
                                 PyUnicode_DecodeFSDefault(timeline->path),
                                 Convert_snapshot(snapshot));
    if (take_path(timeline, path) < 0) {
        *timeline->path = '\0';
        Py_XSETREF(timeline->interruption, PyErr_GetRaisedException());
    }
    Py_XDECREF(path);
}

bool FinalTimeline_is_written(const struct FinalTimeline *timeline)
{
    return *timeline->path && !timeline->error;
}

void FinalTimeline_release(struct FinalTimeline *timeline)
{
    Py_CLEAR(timeline->interruption);
}

void FinalTimeline_describe(const struct FinalTimeline *timeline, char *out,
                            size_t size)
{
    if (timeline->interruption)
        snprintf(out, size, "interrupted: no timeline was written");
    else if (timeline->error)
        snprintf(out, size, "the output could not be written to %s: %s",
                 timeline->path, strerror(-timeline->error));
    else if (FinalTimeline_is_written(timeline) && timeline->limit.part < 1)
        snprintf(out, size,
                 "%s has the newest %.0f%% of the events: there was no more "
                 "time (output_seconds) or room on the disk",
                 timeline->path, 100 * timeline->limit.part);
}
