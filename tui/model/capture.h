// SPDX-License-Identifier: MIT
// Writes the messages of a process to a file (--record), which playback.h
// plays. The file begins with CAPTURE_MAGIC. Each entry is the time since the
// beginning (f64, seconds) and a whole frame of docs/protocol.md. The first
// entry is the process's HELLO. Answers to the recorder's own requests are
// entries, too, so that every view can be shown. The feed uses a Capture on one
// thread.
#ifndef OCULAR_TUI_MODEL_CAPTURE_H
#define OCULAR_TUI_MODEL_CAPTURE_H

#include "ipc/wire.h"

#define CAPTURE_MAGIC "OcularRecording1"
#define CAPTURE_MAGIC_SIZE 16
#define CAPTURE_TIME_SIZE 8
// largest number of functions whose code the recorder requests
#define CAPTURE_ASKED 64

struct Capture {
    int fd;
    double began; // time of the first message after HELLO; -1: none arrived yet
    int error;    // -errno of a failed write, which ends the recording; 0: none
    struct Bytes bytes; // buffer for one entry
    struct {
        uint64_t id; // function whose code was requested
        double at;   // time of the newest request
    } asked[CAPTURE_ASKED];
    size_t asked_count;
};

// Creates the file; fails if it exists. Returns 0, or -errno with the reason in
// `why`.
int Capture_open(struct Capture *recording, const char *path, char *why,
                 size_t why_size);
// Returns 0, or -errno of a failed write.
int Capture_close(struct Capture *recording);
// Appends a message that arrived at `now`.
void Capture_add(struct Capture *recording, const struct Message *message,
                 double now);
// Returns the function whose code the recorder requests next: the hottest one
// that it has not requested for a while. Returns 0 if there is none.
uint64_t Capture_wish(struct Capture *recording,
                      const struct Snapshot *snapshot, double now);

#endif
