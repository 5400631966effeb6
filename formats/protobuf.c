// SPDX-License-Identifier: MIT
// In protobuf, the length of a message comes before the message. The length is
// therefore inserted when the end of the message is known.
#include "formats/protobuf.h"
#include "tracer/base/harmless.h"

#include <string.h>

#define MAX_TEXT 4096

static void add_varint(struct Bytes *out, uint64_t value)
{
    uint8_t bytes[PROTOBUF_VARINT];

    Bytes_put(out, bytes, (size_t)(Protobuf_put_varint(bytes, value) - bytes));
}

void Protobuf_add(struct Bytes *out, unsigned field, uint64_t value)
{
    add_varint(out, field << 3);
    add_varint(out, value);
}

void Protobuf_add_fixed(struct Bytes *out, unsigned field, uint64_t value)
{
    add_varint(out, field << 3 | 1);
    Bytes_put_u64(out, value);
}

void Protobuf_add_real(struct Bytes *out, unsigned field, double value)
{
    add_varint(out, field << 3 | 1);
    Bytes_put_f64(out, value);
}

static void add_bytes(struct Bytes *out, unsigned field, const void *data,
                      size_t size)
{
    add_varint(out, field << 3 | 2);
    add_varint(out, size);
    Bytes_put(out, data, size);
}

void Protobuf_add_text(struct Bytes *out, unsigned field, const char *text)
{
    char clean[MAX_TEXT];

    add_bytes(out, field, clean,
              Harmless_clean(clean, sizeof clean, text ? text : "", false));
}

size_t Protobuf_open(struct Bytes *out, unsigned field)
{
    add_varint(out, field << 3 | 2);
    return out->size;
}

void Protobuf_close(struct Bytes *out, size_t from)
{
    uint8_t length[PROTOBUF_VARINT];
    size_t inside = out->size - from;
    size_t size = (size_t)(Protobuf_put_varint(length, inside) - length);

    if (!Bytes_extend(out, size))
        return;
    memmove(out->data + from + size, out->data + from, inside);
    memcpy(out->data + from, length, size);
}
