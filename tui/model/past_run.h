// SPDX-License-Identifier: MIT
// A PastRun reads the recording of a run (docs/recording.md). In the feed it
// takes the place of a live process. A PastRun sends a snapshot of the whole
// run or of a stretch, and answers requests for stacks and code of this
// stretch. A PastRun has a thread that reads the file. Only the viewer's main
// thread calls these functions. PastRun_close, PastRun_set and the request NOW
// stop this thread and wait for its end.
#pragma once

#include "formats/summary.h"
#include "ipc/wire.h"

#define PAST_RUN_MAGIC "ocular\r\n" // First bytes of a recording.

struct PastRun;

struct PastRequest {
    const char *path;
    const char *before; // Recording of a run to compare with, or NULL.
    // True if PastRun_next is to return -EPIPE after the first snapshot, as
    // soon as no request waits for an answer.
    bool ends;
};

// Opens a recording and starts the reading thread. Returns 0, or -errno with a
// sentence in `why` that names the error.
int PastRun_open(struct PastRun **run, const struct PastRequest *request,
                 char *why, size_t why_size);
void PastRun_close(struct PastRun *run); // `run` may be NULL.
// Returns a descriptor, which is readable if a message may be due.
int PastRun_fd(struct PastRun *run);
// Like Client_next, returns 1 with a message, 0 if none is due, or -errno.
// While the file is being read, the messages are NOTICEs that report the
// progress.
int PastRun_next(struct PastRun *run, struct Message *message);
// Accepts the requests FLAME, DETAIL and NOW. NOW begins to read the stretch
// that was chosen by PastRun_set. Returns what Client_request returns, or
// -ENOTSUP if only a live process can serve the request.
int PastRun_request(struct PastRun *run, struct Message *request);
// Chooses the stretch of the run that the next request NOW reads. Stops the
// reading thread if it runs.
void PastRun_set(struct PastRun *run, struct SummaryStretch stretch);
// Sets *all to the stretch that the recording covers, and *shown to the stretch
// that was read last. Returns false if nothing has been read yet.
bool PastRun_stretches(const struct PastRun *run, struct SummaryStretch *all,
                       struct SummaryStretch *shown);
// Divides the whole run into `parts` equal parts, at most SUMMARY_CURVE. Sets
// each element of `curve` to the mean number of cores that the program used in
// one part.
void PastRun_curve(const struct PastRun *run, float *curve, int parts);
// Returns the snapshot of the run to compare with. Returns NULL if there is no
// run to compare with, or if this run has not been read yet.
const struct Snapshot *PastRun_before(const struct PastRun *run);
// Returns a sentence about an error or about damaged blocks of the file, or "".
const char *PastRun_note(const struct PastRun *run);
