// SPDX-License-Identifier: MIT
// The newest snapshot as viewers are sent it, encoded once for all who get the
// same: whole, or as changes since the one that they had. The server's
// thread only.
#ifndef OCULAR_IPC_FRAMES_H
#define OCULAR_IPC_FRAMES_H

#include "ipc/viewer.h"

struct Frames {
    struct Frame *whole;   // encoded last, or NULL
    struct Frame *changes; // the same
    struct Arena scratch;
};

void Frames_release(struct Frames *frames); // empty again
// The snapshot for a viewer; the caller drops it. NULL and *error: memory is
// out, or it is too large.
struct Frame *Frames_encode(struct Frames *frames,
                            const struct Snapshot *snapshot,
                            const struct Viewer *viewer, int *error);
// The same for any viewer.
struct Frame *Frames_encode_whole(struct Frames *frames,
                                  const struct Snapshot *snapshot, int *error);

#endif
