// SPDX-License-Identifier: MIT
// A recording as a viewer shows it: opened once, and then read for any stretch
// of the run, of which it gives a snapshot, stacks and listings as the live
// program would have sent them. A number that the recording does not know is
// null. One thread at a time. Of this folder the viewer includes this header
// alone.
#ifndef OCULAR_FORMATS_SUMMARY_H
#define OCULAR_FORMATS_SUMMARY_H

#include "ipc/flame_table.h"
#include "ipc/listing.h"
#include "ipc/snapshot.h"

#include <stdbool.h>
#include <stddef.h>

struct Summary;

// Called now and then with 0..1, on the thread that reads. false: the reading
// ends with -ECANCELED. `go_on` may be NULL.
struct SummaryWatch {
    bool (*go_on)(void *context, double done);
    void *context;
};

// Seconds since tracing began.
struct SummaryStretch {
    double from_s, to_s;
};

// Can the file be opened? By its first page: 0, or as Summary_open.
int Summary_probe(const char *path, char *why, size_t why_size);
// 0, or -errno with a sentence that says what is wrong. Of a file that can be
// read `why` says what was left out of it, or is "".
int Summary_open(struct Summary **summary, const char *path,
                 struct SummaryWatch watch, char *why, size_t why_size);
void Summary_close(struct Summary *summary); // NULL is fine
// The stretch that the recording holds.
struct SummaryStretch Summary_all(const struct Summary *summary);
// The one that was read last.
struct SummaryStretch Summary_shown(const struct Summary *summary);
// The CPU time of the whole recording in so many parts of one length, as cores.
#define SUMMARY_CURVE 48
const float *Summary_curve(const struct Summary *summary);
// Reads the events of a stretch, of what there is of it. 0 or -errno.
int Summary_read(struct Summary *summary, struct SummaryStretch stretch,
                 struct SummaryWatch watch);
// Of the stretch that was read last; the caller's. NULL: memory is out.
struct Snapshot *Summary_snapshot(const struct Summary *summary);
struct FlameTable *Summary_stacks(struct Summary *summary);
// NULL: nothing is known of the function's code, or memory is out.
struct Listing *Summary_listing(const struct Summary *summary, uint64_t id);

#endif
