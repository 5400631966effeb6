// SPDX-License-Identifier: MIT
// A RecordingIndex lists the frames of a recording's file (capture.h).
// RecordingIndex_open reads the file once and finds the frames.
// RecordingIndex_open decodes only the beginning of each frame.
// RecordingIndex_read reads one frame again and decodes it completely. The
// replay owns the index.
#pragma once

#include "tui/model/capture.h"

#include <sys/types.h>

struct RecordingEntry {
    double time; // Seconds since the recording began.
    off_t at;    // Offset of the frame in the file.
    size_t size; // Size of the frame in bytes.
    enum MessageType type;
    uint64_t about; // Id of the function of a LISTING, otherwise 0.
};

struct RecordingIndex {
    int fd;
    // Owned array of entries in the file's order.
    struct RecordingEntry *entries;
    size_t count, capacity;
    // True if there are bytes after the last entry that are not a frame.
    bool damaged;
};

// Makes the index of a recording's file. Returns 0 or -errno. After an error
// `why` is the reason or "". -EPROTO means that the file is no recording.
int RecordingIndex_open(struct RecordingIndex *index, const char *path,
                        char *why, size_t why_size);
void RecordingIndex_close(struct RecordingIndex *index);
// Decodes a frame. Returns 0, or -errno if the file has been damaged since
// RecordingIndex_open.
int RecordingIndex_read(const struct RecordingIndex *index,
                        const struct RecordingEntry *entry,
                        struct Message *message);
bool RecordingIndex_has(const struct RecordingIndex *index,
                        enum MessageType type);
// Searches for entries with this type and this `about`. Returns the last such
// entry before the entry with the index `next`. If no earlier entry matches,
// returns the first such entry after `next`, or -1.
long RecordingIndex_find(const struct RecordingIndex *index, size_t next,
                         enum MessageType type, uint64_t about);
