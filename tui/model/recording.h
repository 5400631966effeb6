// SPDX-License-Identifier: MIT
// A file of what a process has sent: --record writes one, --replay (replay.h)
// plays it. It begins with RECORDING_MAGIC; each entry is the time since the
// beginning (f64, seconds) and a whole frame of docs/protocol.md. The process's
// HELLO is the first; answers to the recorder's own questions are entries like
// any other, so that a view that asks has something to show. One thread.
#ifndef OCULAR_TUI_MODEL_RECORDING_H
#define OCULAR_TUI_MODEL_RECORDING_H

#include "ipc/wire.h"

#define RECORDING_MAGIC "OcularRecording1"
#define RECORDING_MAGIC_SIZE 16
#define RECORDING_TIME_SIZE 8
#define RECORDING_ASKED 64 // functions whose code is asked for, the hottest

struct Recording {
    int fd;
    double began;
    int error;          // of a write, sticks: the recording ends there
    struct Bytes bytes; // scratch
    struct {
        uint64_t id;
        double at;
    } asked[RECORDING_ASKED];
    size_t asked_count;
};

// Makes the file; one that is there is not touched. 0, or -errno with `why`.
int Recording_open(struct Recording *recording, const char *path, char *why,
                   size_t why_size);
// 0 or -errno of what went wrong on the way.
int Recording_close(struct Recording *recording);
// Appends what has arrived at `now`.
void Recording_add(struct Recording *recording, const struct Message *message,
                   double now);
// A function whose code to ask for next, 0 = none: the hottest one that was not
// asked about lately.
uint64_t Recording_wish(struct Recording *recording,
                        const struct Snapshot *snapshot, double now);

#endif
