// SPDX-License-Identifier: MIT
// Writes the timeline at stop. Reports the progress to the thread that has
// called stop, and the program's signal handlers run meanwhile: an exception
// that one of them raises (Ctrl-C) ends the writing, and no file is left.
// Interpreter's lock held everywhere; writing releases it.
#ifndef OCULAR_PYTHON_MODULE_FINAL_TIMELINE_H
#define OCULAR_PYTHON_MODULE_FINAL_TIMELINE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tracer/session/session.h"

struct FinalTimeline {
    char path[PATH_MAX]; // "": none is wanted
    struct PerfettoResult result;
    int error;                // 0 or -errno
    PyObject *interruption;   // the exception that ended it, owned; NULL: none
    double seconds;           // that it may take; 0: as long as it takes
    char recording[PATH_MAX]; // that is kept, as there is no output; "": none
    PyObject *progress;    // progress(done, bytes), borrowed; NULL: nobody asks
    PyThreadState *thread; // the writer's, while it has released the lock
};

// Writes to the session's output, or, if that exists, to a name with the pid
// in it. `progress` is a callable or NULL; what it raises ends the writing,
// too.
void FinalTimeline_write(struct FinalTimeline *timeline,
                         struct Session *session, PyObject *progress);
// Has make_page(path, snapshot) return the path of the file that it has made of
// the one at `path`, which becomes `path`. An exception of its own ends the
// writing, and leaves no path. Does nothing without a callable or a snapshot.
void FinalTimeline_make_page(struct FinalTimeline *timeline,
                             PyObject *make_page,
                             const struct Snapshot *snapshot);
bool FinalTimeline_is_written(const struct FinalTimeline *timeline);
// Writes the trouble there was, in words; leaves `out` alone if there was none.
void FinalTimeline_describe(const struct FinalTimeline *timeline, char *out,
                            size_t size);
void FinalTimeline_release(struct FinalTimeline *timeline);

#endif
