// SPDX-License-Identifier: MIT
// The data of a write follows its struct PendingWrite, and is filled up to a
// multiple of eight bytes.
#include "tracer/timeline/pending_writes.h"

#include <string.h>

static size_t padded(uint64_t size)
{
    return (size + 7) / 8 * 8;
}

void PendingWrites_add(struct Bytes *bytes, const struct PendingWrite *write)
{
    uint8_t *to = Bytes_extend(bytes, sizeof *write + padded(write->size));

    if (!to)
        return;
    memcpy(to, write, sizeof *write);
    memcpy(to + sizeof *write, write->data, write->size);
}

bool PendingWrites_next(const struct Bytes *bytes, size_t *cursor,
                        struct PendingWrite *write)
{
    const uint8_t *from = bytes->data + *cursor;

    if (*cursor == bytes->size)
        return false;
    memcpy(write, from, sizeof *write);
    write->data = from + sizeof *write;
    *cursor += sizeof *write + padded(write->size);
    return true;
}
