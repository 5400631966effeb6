// SPDX-License-Identifier: MIT
// The file of a recording (recording.h), read: where its frames are. It is read
// once for the places of the frames, of which only their starts are decoded,
// and each frame again when somebody wants it. Owned by the replay. One thread.
#ifndef OCULAR_TUI_MODEL_RECORDING_INDEX_H
#define OCULAR_TUI_MODEL_RECORDING_INDEX_H

#include "tui/model/recording.h"

#include <sys/types.h>

struct RecordingEntry {
    double time; // seconds since the recording began
    off_t at;    // of the frame, in the file
    size_t size; // of the frame, in bytes
    enum MessageType type;
    uint64_t about; // LISTING: id of the function; else 0
};

struct RecordingIndex {
    int fd;
    struct RecordingEntry *entries; // in their order; owned
    size_t count, capacity;
    bool damaged; // what follows the last entry is no frame
};

// 0, or -errno, and then with `why` in words or ""; -EPROTO: it is no
// recording.
int RecordingIndex_open(struct RecordingIndex *index, const char *path,
                        char *why, size_t why_size);
void RecordingIndex_close(struct RecordingIndex *index);
// A frame, decoded. 0, or -errno: the file was damaged meanwhile.
int RecordingIndex_read(const struct RecordingIndex *index,
                        const struct RecordingEntry *entry,
                        struct Message *message);
bool RecordingIndex_has(const struct RecordingIndex *index,
                        enum MessageType type);
// The newest of the first `next` entries with that type about that function, or
// else the first later one; -1: there is none.
long RecordingIndex_find(const struct RecordingIndex *index, size_t next,
                         enum MessageType type, uint64_t about);

#endif
