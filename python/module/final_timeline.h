// SPDX-License-Identifier: MIT
// Writes the timeline at stop. Progress is reported on the thread that has
// called stop, and the program's signal handlers run meanwhile. If a handler
// raises an exception (Ctrl-C), writing ends and no file is left. Callers hold
// the GIL, which writing releases.
#ifndef OCULAR_PYTHON_MODULE_FINAL_TIMELINE_H
#define OCULAR_PYTHON_MODULE_FINAL_TIMELINE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tracer/session/session.h"

struct FinalTimeline {
    char path[PATH_MAX]; // "": no timeline is wanted
    struct PerfettoResult result;
    int error;                // 0 or -errno
    PyObject *interruption;   // the exception that ended the writing, owned; or
                              // NULL
    double seconds;           // that writing may take; 0: no limit
    char recording[PATH_MAX]; // path of the recording that is kept if there is
                              // no output; or ""
    PyObject *progress;    // callable progress(done, bytes), borrowed; or NULL
    PyThreadState *thread; // the writing thread's, while it does not hold the
                           // GIL
};

// Writes to the session's output, or to a name with the pid in it if that file
// exists. `progress` is a callable or NULL. An exception of `progress` ends the
// writing as well.
void FinalTimeline_write(struct FinalTimeline *timeline,
                         struct Session *session, PyObject *progress);
// Calls make_page(path, snapshot), which makes another file from the file at
// `path` and returns its path. This becomes timeline->path. If make_page raises
// an exception, the writing is interrupted and timeline->path is "". Does
// nothing if `make_page` or `snapshot` is NULL or the timeline was not written.
void FinalTimeline_make_page(struct FinalTimeline *timeline,
                             PyObject *make_page,
                             const struct Snapshot *snapshot);
bool FinalTimeline_is_written(const struct FinalTimeline *timeline);
// Writes an error message to `out`. Does not change `out` if there was no
// error.
void FinalTimeline_describe(const struct FinalTimeline *timeline, char *out,
                            size_t size);
void FinalTimeline_release(struct FinalTimeline *timeline);

#endif
