// SPDX-License-Identifier: MIT
// Writes the messages of a process to a file (--record), which playback.h
// plays. The file begins with CAPTURE_MAGIC. Each entry has the time since the
// beginning (f64, seconds) and a whole frame of docs/protocol.md. The first
// entry is the process's HELLO. The recorder makes requests of its own, and the
// answers are also entries, so that a replay can show every view.
#pragma once

#include "ipc/wire.h"

#define CAPTURE_MAGIC "OcularRecording1"
#define CAPTURE_MAGIC_SIZE 16
#define CAPTURE_TIME_SIZE 8
// The recorder requests the code of at most CAPTURE_ASKED functions.
#define CAPTURE_ASKED 64

struct Capture {
    int fd;
    // Time of the first message after HELLO (-1 = no message yet).
    double began;
    // -errno of the write that failed and ended the recording, or 0.
    int error;
    struct Bytes bytes; // Buffer for one entry of the file.
    struct {
        uint64_t id; // Id of a function whose code was requested.
        double at;   // Time of the newest request for its code.
    } asked[CAPTURE_ASKED];
    size_t asked_count;
};

// Creates the file of the recording. Fails if the file already exists. Returns
// 0, or -errno with the reason in `why`.
int Capture_open(struct Capture *recording, const char *path, char *why,
                 size_t why_size);
// Closes the file. Returns 0, or -errno of a failed write.
int Capture_close(struct Capture *recording);
// Appends a message that arrived at `now`.
void Capture_add(struct Capture *recording, const struct Message *message,
                 double now);
// Returns the function whose code is to be requested next. The next function is
// the hottest one whose code was not requested in the last seconds. Returns 0
// if no request for code is due.
uint64_t Capture_request(struct Capture *recording,
                         const struct Snapshot *snapshot, double now);
