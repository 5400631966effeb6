// SPDX-License-Identifier: MIT
// Holds the bytes that a recording must still write, in order. A write consists
// of bytes and of their offset in the file.
#pragma once

#include "ipc/base/bytes.h"

#include <stdbool.h>

struct PendingWrite {
    uint64_t at;
    uint64_t size;
    const uint8_t *data;
};

// Adds a copy of the write `write` and of its data. If memory is out, sets the
// field `error` of `bytes`.
void PendingWrites_add(struct Bytes *bytes, const struct PendingWrite *write);
// Stores in *write the write at *cursor, and moves *cursor to the next write.
// *cursor is 0 before the first call. Returns false after the last write.
bool PendingWrites_next(const struct Bytes *bytes, size_t *cursor,
                        struct PendingWrite *write);
