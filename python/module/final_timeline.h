// SPDX-License-Identifier: MIT
// Writes the timeline when a trace stops. The thread that has called stop()
// writes the timeline. During the writing this thread also reports the progress
// and runs the program's signal handlers. If a handler raises an exception
// (Ctrl-C), writing ends and no file is left. Callers hold the GIL, and the
// functions release the GIL while they write.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tracer/session/session.h"

struct FinalTimeline {
    char path[PATH_MAX]; // Empty if no timeline is wanted.
    struct PerfettoResult result;
    int error; // 0 or -errno.
    // The exception that ended the writing, or NULL. The caller drops this
    // reference.
    PyObject *interruption;
    double seconds; // Seconds that the writing may take (0 = no limit).
    // Path of the recording that remains if no output is written, or "".
    char recording[PATH_MAX];
    PyObject *progress; // Borrowed callable progress(done, bytes), or NULL.
    // State of the writing thread while this thread does not hold the GIL.
    PyThreadState *thread;
};

// Writes the session's output. If a file of this name exists, writes to a name
// with the pid instead. `progress` is a callable or NULL. If `progress` raises
// an exception, the writing ends as well.
void FinalTimeline_write(struct FinalTimeline *timeline,
                         struct Session *session, PyObject *progress);
// Calls make_page(path, snapshot), which makes another file from the file at
// `path` and returns the new file's path. timeline->path becomes the new path.
// If make_page raises an exception, the exception becomes the interruption, and
// timeline->path becomes "". Does nothing if `make_page` or `snapshot` is NULL
// or the timeline was not written.
void FinalTimeline_make_page(struct FinalTimeline *timeline,
                             PyObject *make_page,
                             const struct Snapshot *snapshot);
bool FinalTimeline_is_written(const struct FinalTimeline *timeline);
// Writes an error message to `out`. Does not change `out` if there was no
// error.
void FinalTimeline_describe(const struct FinalTimeline *timeline, char *out,
                            size_t size);
