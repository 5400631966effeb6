// SPDX-License-Identifier: MIT
// Writes a file of what a process sends (--record), for playback.h to play. It
// begins with RECORDING_MAGIC; each entry is the time since the beginning (f64,
// seconds) and a whole frame of docs/protocol.md. The process's HELLO comes
// first. Answers to the recorder's own requests are entries, too, so that a
// view that asks has something to show. Used by the feed. One thread.
#ifndef OCULAR_TUI_MODEL_RECORDING_H
#define OCULAR_TUI_MODEL_RECORDING_H

#include "ipc/wire.h"

#define RECORDING_MAGIC "OcularRecording1"
#define RECORDING_MAGIC_SIZE 16
#define RECORDING_TIME_SIZE 8
#define RECORDING_ASKED 64 // functions whose code the recorder asks for at most

struct Recording {
    int fd;
    double began;
    int error; // of a write, as -errno; 0: none; the recording ends there
    struct Bytes bytes; // scratch
    struct {
        uint64_t id;
        double at;
    } asked[RECORDING_ASKED];
    size_t asked_count;
};

// Makes the file, and never touches one that exists. 0, or -errno with `why`.
int Recording_open(struct Recording *recording, const char *path, char *why,
                   size_t why_size);
// 0, or the -errno of a write.
int Recording_close(struct Recording *recording);
// Appends a message that arrived at `now`.
void Recording_add(struct Recording *recording, const struct Message *message,
                   double now);
// Returns the function whose code the recorder asks for next: the hottest one
// that it has not asked for in a while; 0: none.
uint64_t Recording_wish(struct Recording *recording,
                        const struct Snapshot *snapshot, double now);

#endif
