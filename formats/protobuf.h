// SPDX-License-Identifier: MIT
// Writes the parts of protobuf's wire format that Ocular uses. Ocular uses
// protobuf's varints (also for bool), doubles, texts and messages. pftrace*.c
// and pprof.c call the functions of protobuf.h.
#pragma once

#include "ipc/base/bytes.h"

#define PROTOBUF_VARINT 10u // Largest number of bytes of a varint.

// Protobuf_put_varint and Protobuf_put_field write at `at`, where there must be
// enough room, and return the address behind the last written byte.
static inline uint8_t *Protobuf_put_varint(uint8_t *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

// Writes the tag of a field, and a varint.
static inline uint8_t *Protobuf_put_field(uint8_t *at, unsigned field,
                                          uint64_t value)
{
    return Protobuf_put_varint(Protobuf_put_varint(at, field << 3), value);
}

// Appends a field with a varint to `out`. Errors are stored in `out`.
void Protobuf_add(struct Bytes *out, unsigned field, uint64_t value);
// Appends a field that always takes eight bytes.
void Protobuf_add_fixed(struct Bytes *out, unsigned field, uint64_t value);
void Protobuf_add_real(struct Bytes *out, unsigned field, double value);
// Appends a text, with replacements for invalid UTF-8, because
// protobuf requires valid UTF-8. If the text is NULL, appends "".
void Protobuf_add_text(struct Bytes *out, unsigned field, const char *text);
// Begins a message inside the present message and returns the offset of the
// inner message. The caller passes the offset to Protobuf_close.
size_t Protobuf_open(struct Bytes *out, unsigned field);
void Protobuf_close(struct Bytes *out, size_t from);
