// SPDX-License-Identifier: MIT
// Writes the timeline to a file, or the sampled stacks, where its name ends as
// a profile's (ipc/file_kind.h): now, on the caller's thread, or in the
// background ("ocular-export") for a viewer, with progress and cancelling.
// One export at a time.
#ifndef OCULAR_TRACER_TIMELINE_EXPORT_H
#define OCULAR_TRACER_TIMELINE_EXPORT_H

#include "ipc/base/opened.h"
#include "ipc/base/worker.h"
#include "ipc/wire.h"
#include "tracer/timeline/formats.h"
#include "tracer/timeline/trace.h"

#include <limits.h>
#include <pthread.h>

// What is exported; called on the writing thread.
struct ExportSource {
    void *context;
    struct Timeline *(*timeline)(void *context); // NULL: none is kept
    // Has the timeline's recording all that has happened by now.
    void (*cut)(void *context);
    // A file that is no timeline, by its name (profile_file.h). 0 or -errno.
    int (*profile)(void *context, const char *path, struct Bytes *out);
    // To a viewer, who may be gone.
    void (*answer)(void *context, uint64_t viewer,
                   const struct Message *message);
};

// Called about every 50 ms on the writing thread, which holds no lock: how much
// is done, 0..1, and the bytes of the file so far. False cancels.
struct ExportWatch {
    void *context;
    bool (*progress)(void *context, double done, uint64_t bytes);
};

struct Export {
    struct ExportSource source;
    pthread_mutex_t mutex; // guards the next three
    bool busy;
    bool closed;   // nothing is started in the background any more
    bool joinable; // the background thread is still to be joined
    struct Worker worker;
    _Atomic bool cancel;
    // The request in the background.
    uint64_t viewer;
    uint32_t request;
    int descriptor; // of the viewer's file; the thread's once that has begun
    struct Opened opened; // which one that is
    char name[PATH_MAX];  // as the viewer calls it
};

void Export_init(struct Export *export, const struct ExportSource *source);
// Cancels what runs in the background and waits for it; no other is started
// from now on. Export_write goes on to work.
void Export_close(struct Export *export);
// Closes it; nothing runs any more.
void Export_release(struct Export *export);
// 0 or -errno: -ENODATA no timeline is kept, -ENOTSUP nothing is sampled,
// -EBUSY another export runs, -EEXIST the file is there and overwrite is false,
// -ECANCELED cancelled, -ETIMEDOUT it would take longer than so many seconds
// (0: it may take as long as it takes), -EOPNOTSUPP a recording cannot be made
// of it. No file is left then. Blocks; not with the interpreter's lock. `watch`
// may be NULL.
int Export_write(struct Export *export, const char *path, bool overwrite,
                 const struct ExportWatch *watch, double seconds,
                 struct PerfettoResult *result);
// Starts it in the background, to a file that the viewer has opened (a copy of
// the descriptor is taken) and calls `name`; answers the viewer, with progress,
// then with name and size or an error. Errors that are known at once (also
// -ESHUTDOWN: closed) are returned, and not sent.
int Export_start(struct Export *export, int descriptor, const char *name,
                 uint64_t viewer, uint32_t request);
// Whether none runs; one that has ended in the background is joined.
bool Export_is_idle(struct Export *export);
void Export_cancel(struct Export *export); // whichever runs

#endif
