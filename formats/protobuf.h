// SPDX-License-Identifier: MIT
// Writes the part of protobuf's wire format that is used here. The fields are
// varints (also bool), doubles, texts and messages. pftrace*.c and pprof.c call
// these functions. The functions keep no state.
#ifndef OCULAR_FORMATS_PROTOBUF_H
#define OCULAR_FORMATS_PROTOBUF_H

#include "ipc/base/bytes.h"

#define PROTOBUF_VARINT 10u // maximum number of bytes of a varint

// Both functions write at `at`, which must have enough space, and return the
// address behind the last byte.
static inline uint8_t *Protobuf_put_varint(uint8_t *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

// Writes a tag and a varint.
static inline uint8_t *Protobuf_put_field(uint8_t *at, unsigned field,
                                          uint64_t value)
{
    return Protobuf_put_varint(Protobuf_put_varint(at, field << 3), value);
}

// Appends a field with a varint to a buffer. Errors are stored in the buffer.
void Protobuf_add(struct Bytes *out, unsigned field, uint64_t value);
// Appends a field of always eight bytes.
void Protobuf_add_fixed(struct Bytes *out, unsigned field, uint64_t value);
void Protobuf_add_real(struct Bytes *out, unsigned field, double value);
// Appends a text as valid UTF-8, because protobuf requires valid UTF-8. NULL
// gives "".
void Protobuf_add_text(struct Bytes *out, unsigned field, const char *text);
// Begins an inner message and returns its offset. The caller passes the offset
// to Protobuf_close.
size_t Protobuf_open(struct Bytes *out, unsigned field);
void Protobuf_close(struct Bytes *out, size_t from);

#endif
