// SPDX-License-Identifier: MIT
// The index of a recording's file (capture.h). The file is read once to find
// its frames; only the beginning of each frame is decoded then. A frame is read
// again and decoded when it is needed. Owned by the replay. One thread.
#ifndef OCULAR_TUI_MODEL_RECORDING_INDEX_H
#define OCULAR_TUI_MODEL_RECORDING_INDEX_H

#include "tui/model/capture.h"

#include <sys/types.h>

struct RecordingEntry {
    double time; // seconds since the recording began
    off_t at;    // offset of the frame in the file
    size_t size; // size of the frame in bytes
    enum MessageType type;
    uint64_t about; // LISTING: id of the function; else 0
};

struct RecordingIndex {
    int fd;
    struct RecordingEntry *entries; // entries in the file's order; owned
    size_t count, capacity;
    bool damaged; // the bytes after the last entry are no frame
};

// Returns 0, or -errno with the reason, or "", in `why`; -EPROTO if the file is
// no recording.
int RecordingIndex_open(struct RecordingIndex *index, const char *path,
                        char *why, size_t why_size);
void RecordingIndex_close(struct RecordingIndex *index);
// Decodes a frame. Returns 0, or -errno if the file was damaged in the
// meantime.
int RecordingIndex_read(const struct RecordingIndex *index,
                        const struct RecordingEntry *entry,
                        struct Message *message);
bool RecordingIndex_has(const struct RecordingIndex *index,
                        enum MessageType type);
// Returns the newest of the first `next` entries with this type and `about`,
// else the first later one, or -1 if there is none.
long RecordingIndex_find(const struct RecordingIndex *index, size_t next,
                         enum MessageType type, uint64_t about);

#endif
