// SPDX-License-Identifier: MIT
// Holds the writes that a recording still has to do, in order. A write is some
// bytes for a place in the file.
#ifndef OCULAR_TRACER_TIMELINE_PENDING_WRITES_H
#define OCULAR_TRACER_TIMELINE_PENDING_WRITES_H

#include "ipc/base/bytes.h"

#include <stdbool.h>

struct PendingWrite {
    uint64_t at;
    uint64_t size;
    const uint8_t *data;
};

// Adds a copy of the write. If memory is out, sets `error` of `bytes`.
void PendingWrites_add(struct Bytes *bytes, const struct PendingWrite *write);
// Stores the write at the cursor in *write, and advances the cursor, which is 0
// at first. Returns false after the last write.
bool PendingWrites_next(const struct Bytes *bytes, size_t *cursor,
                        struct PendingWrite *write);

#endif
