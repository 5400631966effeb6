// SPDX-License-Identifier: MIT
// A recording of a run (docs/recording.md) as the other end of a feed: it sends
// a snapshot of the whole run, or of a stretch, and answers requests for stacks
// and code from the same. A thread of its own reads the file; all functions are
// the viewer's thread's, and none blocks but PastRun_close.
#ifndef OCULAR_TUI_MODEL_PAST_RUN_H
#define OCULAR_TUI_MODEL_PAST_RUN_H

#include "formats/summary.h"
#include "ipc/wire.h"

#define PAST_RUN_MAGIC "ocular\r\n" // that a file begins with

struct PastRun;

struct PastWish {
    const char *path;
    const char *before; // another run to compare with; or NULL
    bool ends; // after the first snapshot there is nothing more to come
};

// 0, or -errno with `why` in words.
int PastRun_open(struct PastRun **run, const struct PastWish *wish, char *why,
                 size_t why_size);
void PastRun_close(struct PastRun *run); // NULL is fine
int PastRun_fd(struct PastRun *run);     // to poll; readable: a message is due
// As Client_next. While the file is read NOTICEs say how far.
int PastRun_next(struct PastRun *run, struct Message *message);
// As Client_request: FLAME and DETAIL, and NOW, which has the stretch read that
// was set last. -ENOTSUP: only a live program can do that.
int PastRun_request(struct PastRun *run, struct Message *request);
void PastRun_set(struct PastRun *run, struct SummaryStretch stretch);
// The stretch that the recording holds, and the one that is shown. false:
// nothing is read yet.
bool PastRun_stretches(const struct PastRun *run, struct SummaryStretch *all,
                       struct SummaryStretch *shown);
// The CPU time of the whole run in so many parts, SUMMARY_CURVE at most, as
// cores.
void PastRun_curve(const struct PastRun *run, float *curve, int parts);
// The whole of the other run; NULL: there is none, or it is not read yet.
const struct Snapshot *PastRun_before(const struct PastRun *run);
// Why the reading has failed, or what was left out of the file; or "".
const char *PastRun_note(const struct PastRun *run);

#endif
