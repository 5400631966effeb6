// SPDX-License-Identifier: MIT
// Bytes that are to be written to places of a file, in order. The recording's.
#ifndef OCULAR_TRACER_TIMELINE_PENDING_WRITES_H
#define OCULAR_TRACER_TIMELINE_PENDING_WRITES_H

#include "ipc/base/bytes.h"

#include <stdbool.h>

struct PendingWrite {
    uint64_t at;
    uint64_t size;
    const uint8_t *data;
};

// A copy of them. If memory is out, `error` of the bytes says so.
void PendingWrites_add(struct Bytes *bytes, const struct PendingWrite *write);
// The one at the cursor, which is 0 at first. false: there are no more.
bool PendingWrites_next(const struct Bytes *bytes, size_t *cursor,
                        struct PendingWrite *write);

#endif
