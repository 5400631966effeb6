// SPDX-License-Identifier: MIT
// Writes the timeline to a file, or writes the sampled stacks if the file's
// name ends like the name of a profile (ipc/file_kind.h). The program asks for
// an export, or Ocular exports at the end of tracing. A viewer makes its files
// itself (session/handout.h). Only one export runs at a time.
#pragma once

#include "tracer/timeline/formats.h"
#include "tracer/timeline/trace.h"

#include <stdatomic.h>

// The functions that provide the data of an export. The thread that writes the
// file calls them.
struct ExportSource {
    void *context;
    struct Timeline *(*timeline)(
        void *context); // Returns NULL if there is no timeline.
    // Makes and converts a recording. Depending on the output's name, the
    // recording has the stacks, or all events up to now. Returns 0 or -errno.
    int (*convert)(void *context, struct Conversion *conversion);
};

// The thread that writes the file calls `progress` about every 50 ms, and holds
// no lock then. `done` is the finished fraction of the export, from 0 to 1.
// `bytes` is the present size of the file in bytes. The export is cancelled if
// `progress` returns false.
struct ExportWatch {
    void *context;
    bool (*progress)(void *context, double done, uint64_t bytes);
};

struct Export { // An empty struct has only zero bytes.
    struct ExportSource source;
    _Atomic bool busy; // True while an export runs.
    _Atomic bool cancel;
};

// Exports to the file at `path`. Export_write blocks, so the caller must not
// hold the GIL. `seconds` is the largest time that the export may take, or 0
// for no limit. `watch` may be NULL. Returns 0 or -errno. After an error no new
// file exists. -ENODATA means that there is no timeline, and -ENOTSUP means
// that nothing is sampled. -EBUSY means that another export runs. -EEXIST means
// that the file exists and `overwrite` is false. -ECANCELED means that the
// export was cancelled. -ETIMEDOUT means that the export would take longer than
// `seconds`. -EOPNOTSUPP means that `path` is the name of a recording.
int Export_write(struct Export *export, const char *path, bool overwrite,
                 const struct ExportWatch *watch, double seconds,
                 struct PerfettoResult *result);
void Export_cancel(struct Export *export); // Cancels the export that runs.
