// SPDX-License-Identifier: MIT
// A Summary makes the viewer's data from a recording. The viewer opens a
// recording once, and then reads any stretch of the run from it. For each
// stretch of the run, the Summary makes the snapshot, the stacks and the
// listings that a live program would have sent. A number that the recording
// does not contain is null. Only one thread at a time may use a Summary. The
// viewer includes only this header and formats/live_export.h from the folder
// formats/.
#pragma once

#include "ipc/flame_table.h"
#include "ipc/listing.h"
#include "ipc/snapshot.h"

#include <stdbool.h>
#include <stddef.h>

struct Summary;

// The reading thread calls `go_on` from time to time. `done` is the finished
// fraction of the work, from 0 to 1. If `go_on` returns false, the reading
// stops and returns -ECANCELED. `go_on` can be NULL.
struct SummaryWatch {
    bool (*go_on)(void *context, double done);
    void *context;
};

// A stretch of a run. The beginning and the end of a stretch are in seconds
// since tracing began.
struct SummaryStretch {
    double from_s, to_s;
};

// Checks the first page of the recording at `path`. Returns 0, or the error
// that Summary_open would return.
int Summary_probe(const char *path, char *why, size_t why_size);
// Opens the recording at `path`. Returns 0, or -errno with a sentence in `why`
// that names the error. After success, `why` says how many blocks of the file
// are damaged, or is empty.
int Summary_open(struct Summary **summary, const char *path,
                 struct SummaryWatch watch, char *why, size_t why_size);
void Summary_close(struct Summary *summary); // `summary` can be NULL.
// Returns the stretch of the run that the recording covers.
struct SummaryStretch Summary_all(const struct Summary *summary);
// Returns the stretch of the run that was read last.
struct SummaryStretch Summary_shown(const struct Summary *summary);
// Returns the CPU time over the whole recording as a curve. The recording is
// divided into SUMMARY_CURVE parts of equal length, and the curve has the mean
// number of used cores for each part.
#define SUMMARY_CURVE 48
const float *Summary_curve(const struct Summary *summary);
// Reads the events of that part of `stretch` which the recording covers.
// Returns 0 or -errno.
int Summary_read(struct Summary *summary, struct SummaryStretch stretch,
                 struct SummaryWatch watch);
// Summary_snapshot returns the snapshot of the stretch of the run that was read
// last, and Summary_stacks returns the stacks in it. The caller frees the
// returned snapshot or stacks. The result is NULL if memory is out.
struct Snapshot *Summary_snapshot(const struct Summary *summary);
struct FlameTable *Summary_stacks(struct Summary *summary);
// Returns the listing of a function for the stretch of the run that was read
// last. The caller frees the listing. Returns NULL if no sample in the stretch
// of the run found the function's code, or if memory is out.
struct Listing *Summary_listing(const struct Summary *summary, uint64_t id);
