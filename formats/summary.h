// SPDX-License-Identifier: MIT
// A Summary shows a recording to a viewer. The viewer opens a recording once
// and then reads any stretch of the run. For each stretch, the Summary makes
// the snapshot, stacks and listings that a live program would have sent. A
// number that the recording does not hold is null. One thread at a time uses a
// Summary. The viewer includes no other header of the folder formats/.
#ifndef OCULAR_FORMATS_SUMMARY_H
#define OCULAR_FORMATS_SUMMARY_H

#include "ipc/flame_table.h"
#include "ipc/listing.h"
#include "ipc/snapshot.h"

#include <stdbool.h>
#include <stddef.h>

struct Summary;

// The reading thread calls `go_on` now and then. `done` is the part of the work
// that is done, from 0 to 1. If `go_on` returns false, the reading ends with
// -ECANCELED. `go_on` may be NULL.
struct SummaryWatch {
    bool (*go_on)(void *context, double done);
    void *context;
};

// A stretch of a run, in seconds since tracing began.
struct SummaryStretch {
    double from_s, to_s;
};

// Checks the first page of a file. Returns 0, or the error that Summary_open
// would return.
int Summary_probe(const char *path, char *why, size_t why_size);
// Opens a recording. Returns 0, or -errno with a sentence in `why` that names
// the error. After success, `why` says how many blocks of the file are damaged,
// or is empty.
int Summary_open(struct Summary **summary, const char *path,
                 struct SummaryWatch watch, char *why, size_t why_size);
void Summary_close(struct Summary *summary); // `summary` may be NULL
// Returns the stretch that the recording covers.
struct SummaryStretch Summary_all(const struct Summary *summary);
// Returns the stretch that was read last.
struct SummaryStretch Summary_shown(const struct Summary *summary);
// Returns the CPU time of the whole recording as SUMMARY_CURVE numbers of
// cores, one number for each of SUMMARY_CURVE parts of equal length.
#define SUMMARY_CURVE 48
const float *Summary_curve(const struct Summary *summary);
// Reads the events of a stretch, as far as the recording covers the stretch.
// Returns 0 or -errno.
int Summary_read(struct Summary *summary, struct SummaryStretch stretch,
                 struct SummaryWatch watch);
// These two return the snapshot or the stacks of the stretch that was read
// last. The caller frees the result. NULL: memory is out.
struct Snapshot *Summary_snapshot(const struct Summary *summary);
struct FlameTable *Summary_stacks(struct Summary *summary);
// Returns the code of a function, which the caller frees. Returns NULL if no
// sample in the stretch found the function's code, or if memory is out.
struct Listing *Summary_listing(const struct Summary *summary, uint64_t id);

#endif
