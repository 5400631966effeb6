// SPDX-License-Identifier: MIT
#include "python/module/final_timeline.h"
#include "ipc/file_kind.h"
#include "python/module/convert.h"
#include "tracer/session/exports.h"
#include "tracer/timeline/output_name.h"

#include <errno.h>

#define NAME_TRIES 5

// Runs pending signal handlers, then calls timeline->progress. Returns 0, or -1
// with an exception.
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

// The writing thread calls this function without the GIL. Returns false to end
// the writing of the timeline.
static bool watch(void *context, double done, uint64_t bytes)
{
    struct FinalTimeline *timeline = context;
    bool goes_on;

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
    bool is_recording =
        FileKind_of(session->config.output).content == FILE_RECORDING;
    int tries = 0;

    timeline->progress = progress;
    do { // another process may have created a file of this name
        OutputName_choose(session->config.output, timeline->path);
        timeline->thread = PyEval_SaveThread();
        timeline->error =
            is_recording
                ? Exports_keep(session, timeline->path, &timeline->result.bytes)
                : Exports_write(session, timeline->path, false, &watcher,
                                timeline->seconds, &timeline->result);
        PyEval_RestoreThread(timeline->thread);
    } while (timeline->error == -EEXIST && ++tries < NAME_TRIES);
    if (!timeline->error || !session->recording)
        return;
    session->keeps_recording = true;
    snprintf(timeline->recording, sizeof timeline->recording, "%s",
             Recording_path(session->recording));
}

// Stores `path` in the timeline. Returns 0, or -1 with an exception.
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

void FinalTimeline_describe(const struct FinalTimeline *timeline, char *out,
                            size_t size)
{
    int length = 0;

    if (timeline->interruption)
        length = snprintf(out, size, "interrupted: no timeline was written");
    else if (timeline->error)
        length = snprintf(
            out, size, "the output could not be written to %s: %s",
            timeline->path,
            timeline->error == -ETIMEDOUT ? "it took too long (output_seconds)"
                                          : strerror(-timeline->error));
    if (length && *timeline->recording)
        snprintf(out + length, size - (size_t)length,
                 "; what was recorded is there: ocular convert %s",
                 timeline->recording);
}
