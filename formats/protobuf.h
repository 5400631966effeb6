// SPDX-License-Identifier: MIT
// Protobuf's wire format, as far as it is written here: fields that are varints
// (also bool), doubles, texts and messages. pftrace.c and pprof.c call it; no
// state.
#ifndef OCULAR_FORMATS_PROTOBUF_H
#define OCULAR_FORMATS_PROTOBUF_H

#include "ipc/base/bytes.h"

#define PROTOBUF_VARINT 10u // bytes of one, at most

// Both write at `at`, if there is room, and return where they end.
static inline uint8_t *Protobuf_put_varint(uint8_t *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

// A tag and a varint.
static inline uint8_t *Protobuf_put_field(uint8_t *at, unsigned field,
                                          uint64_t value)
{
    return Protobuf_put_varint(Protobuf_put_varint(at, field << 3), value);
}

// The same, at the end of a buffer, whose error sticks.
void Protobuf_add(struct Bytes *out, unsigned field, uint64_t value);
// Eight bytes, whatever the number.
void Protobuf_add_fixed(struct Bytes *out, unsigned field, uint64_t value);
void Protobuf_add_real(struct Bytes *out, unsigned field, double value);
// As valid UTF-8, which a string has to be; NULL is "".
void Protobuf_add_text(struct Bytes *out, unsigned field, const char *text);
// A message within: returns where it begins, for Protobuf_close.
size_t Protobuf_open(struct Bytes *out, unsigned field);
void Protobuf_close(struct Bytes *out, size_t from);

#endif
