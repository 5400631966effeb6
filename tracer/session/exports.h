// SPDX-License-Identifier: MIT
// Writes the timeline to a file, or writes the sampled stacks if the file's
// name ends like the name of a profile (ipc/file_kind.h). The program asks for
// an export, or Ocular exports at the end of tracing. A viewer makes its files
// itself (handout.h).
#pragma once

#include "tracer/session/session.h"

// The thread that writes the file calls `progress` about every 50 ms, and holds
// no lock then. `done` is the finished fraction of the export, from 0 to 1.
// `bytes` is the present size of the file in bytes. The export is cancelled if
// `progress` returns false.
struct ExportWatch {
    void *context;
    bool (*progress)(void *context, double done, uint64_t bytes);
};

// Exports to the file at `path`, on the caller's thread. Exports_write blocks,
// so the caller must not hold the GIL. `seconds` is the largest time that the
// export may take, or 0 for no limit. `watch` may be NULL. Returns 0 or -errno.
// After an error no new file exists. -ENODATA means that there is no timeline,
// and -ENOTSUP means that nothing is sampled. -EBUSY means that another export
// runs. -EEXIST means that the file exists and `overwrite` is false. -ECANCELED
// means that the export was cancelled. -ETIMEDOUT means that the export would
// take longer than `seconds`. -EOPNOTSUPP means that `path` is the name of a
// recording.
int Exports_write(struct Session *session, const char *path, bool overwrite,
                  const struct ExportWatch *watch, double seconds,
                  struct PerfettoResult *result);
// Cancels the export that runs.
void Exports_cancel(struct Session *session);
// Returns the timeline from which an output file can be made, or NULL.
struct Timeline *Exports_timeline(const struct Session *session);
// Adds all events until now to the recording. Any thread may call Exports_cut.
void Exports_cut(struct Session *session);
// Completes the recording's file and renames it to the name of the output. If a
// file of that name exists, the recording keeps its old name. Stores the
// recording's name in `path` and its size in *bytes. Returns 0 or -errno. Must
// be called after Session_finish.
int Exports_keep(struct Session *session, char path[PATH_MAX], uint64_t *bytes);
