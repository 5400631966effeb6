// SPDX-License-Identifier: MIT
// struct Frames contains the newest snapshot in encoded form. A frame contains
// either the whole snapshot or the changes since an earlier snapshot. Each
// frame is encoded only once, for all viewers that get the same bytes. Only the
// server's thread calls these functions.
#pragma once

#include "ipc/viewer.h"

struct Frames {
    struct Frame *whole;   // The newest frame of a whole snapshot, or NULL.
    struct Frame *changes; // The newest frame of changes, or NULL.
    struct Arena scratch;
};

// Frees the frames, and makes *frames empty.
void Frames_release(struct Frames *frames);
// Returns the frame of the snapshot for a viewer. The caller drops the frame by
// Frame_drop. Returns NULL and sets *error if there is no memory or the frame
// is too large.
struct Frame *Frames_encode(struct Frames *frames,
                            const struct Snapshot *snapshot,
                            const struct Viewer *viewer, int *error);
// Returns the frame of the whole snapshot, for any viewer. Apart from that,
// Frames_encode_whole works as Frames_encode does.
struct Frame *Frames_encode_whole(struct Frames *frames,
                                  const struct Snapshot *snapshot, int *error);
