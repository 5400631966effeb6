// SPDX-License-Identifier: MIT
// Writes the timeline to a file, or the sampled stacks if the file's name ends
// like a profile's (ipc/file_kind.h). Export_write works on the caller's
// thread. Export_start works in the background ("ocular-export") for a viewer,
// who gets the progress and may cancel the export. Only one export runs at a
// time.
#ifndef OCULAR_TRACER_TIMELINE_EXPORT_H
#define OCULAR_TRACER_TIMELINE_EXPORT_H

#include "ipc/base/opened.h"
#include "ipc/base/worker.h"
#include "ipc/wire.h"
#include "tracer/timeline/formats.h"
#include "tracer/timeline/trace.h"

#include <limits.h>
#include <pthread.h>

// The source of the exported data. The writing thread calls the functions.
struct ExportSource {
    void *context;
    struct Timeline *(*timeline)(
        void *context); // returns NULL if there is no timeline
    // Makes a recording that has the stacks, or all events up to now, as the
    // output's name requires, and converts the recording. Returns 0 or -errno.
    int (*convert)(void *context, struct Conversion *conversion);
    // Sends a message to a viewer, who may have left.
    void (*answer)(void *context, uint64_t viewer,
                   const struct Message *message);
};

// The writing thread calls `progress` about every 50 ms and holds no lock.
// `done` is the finished part, from 0 to 1. `bytes` is the present size of the
// file. If `progress` returns false, the export is cancelled.
struct ExportWatch {
    void *context;
    bool (*progress)(void *context, double done, uint64_t bytes);
};

struct Export {
    struct ExportSource source;
    pthread_mutex_t mutex; // guards the next three fields
    bool busy;
    bool closed;   // true if no further export may start in the background
    bool joinable; // true if the background thread must still be joined
    struct Worker worker;
    _Atomic bool cancel;
    // The request of the export in the background.
    uint64_t viewer;
    uint32_t request;
    int descriptor; // of the viewer's file; owned by the thread after its start
    struct Opened opened; // the file that `descriptor` stands for
    char name[PATH_MAX];  // the file's name as the viewer gave it
};

void Export_init(struct Export *export, const struct ExportSource *source);
// Cancels an export in the background and waits for its end. Later no export
// starts in the background, but Export_write still works.
void Export_close(struct Export *export);
// Closes the export and frees its memory. No export may run.
void Export_release(struct Export *export);
// Writes the file at `path`. Blocks, so the caller must not hold the GIL.
// `seconds` is the longest time that the export may take, or 0 for no limit.
// `watch` may be NULL. Returns 0 or -errno. After an error no new file exists.
// -ENODATA means that there is no timeline, and -ENOTSUP that nothing is
// sampled. -EBUSY means that another export runs. -EEXIST means that the file
// exists and `overwrite` is false. -ECANCELED means that the export was
// cancelled, and -ETIMEDOUT that the export would take longer than `seconds`.
// -EOPNOTSUPP means that `path` is the name of a recording.
int Export_write(struct Export *export, const char *path, bool overwrite,
                 const struct ExportWatch *watch, double seconds,
                 struct PerfettoResult *result);
// Starts an export in the background, to a file that the viewer has opened. The
// function copies the descriptor. `name` is the viewer's name for the file. The
// viewer gets messages with the progress, and at the end the name and the size,
// or an error. An error that is known at once is returned and not sent.
// -ESHUTDOWN means that the export is closed.
int Export_start(struct Export *export, int descriptor, const char *name,
                 uint64_t viewer, uint32_t request);
// Returns true if no export runs. Joins the thread of an export that has ended.
bool Export_is_idle(struct Export *export);
void Export_cancel(struct Export *export); // cancels the running export

#endif
