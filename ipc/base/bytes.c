// SPDX-License-Identifier: MIT
// Implements struct Bytes and struct Cursor. Only bytes.c depends on the byte
// order of numbers. Only bytes.c checks bounds. wire.c can therefore read bytes
// of an attacker without checks. Any thread may call these functions, because
// they share no state.
#include "ipc/base/bytes.h"
#include "ipc/base/heap.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define FIRST_CAPACITY 256u

void Bytes_init(struct Bytes *bytes)
{
    memset(bytes, 0, sizeof(*bytes));
}

void Bytes_release(struct Bytes *bytes)
{
    Heap_free(bytes->data);
    Bytes_init(bytes);
}

void Bytes_clear(struct Bytes *bytes)
{
    bytes->size = 0;
    bytes->error = 0;
}

static int reserve(struct Bytes *bytes, size_t size)
{
    size_t capacity = bytes->capacity ? bytes->capacity : FIRST_CAPACITY;
    uint8_t *data;

    if (size > SIZE_MAX / 2 - bytes->size)
        return -ENOMEM;
    while (capacity < bytes->size + size)
        capacity *= 2;
    if (capacity == bytes->capacity)
        return 0;
    data = Heap_resize(bytes->data, capacity);
    if (!data)
        return -ENOMEM;
    bytes->data = data;
    bytes->capacity = capacity;
    return 0;
}

uint8_t *Bytes_extend(struct Bytes *bytes, size_t size)
{
    uint8_t *room;

    if (bytes->error)
        return NULL;
    bytes->error = reserve(bytes, size);
    if (bytes->error)
        return NULL;
    room = bytes->data + bytes->size;
    bytes->size += size;
    return room;
}

void Bytes_put(struct Bytes *bytes, const void *data, size_t size)
{
    uint8_t *room = Bytes_extend(bytes, size);

    if (room && size)
        memcpy(room, data, size);
}

// put_number and take_number are inlined, so that their parameter `size` is a
// constant. Inlining pays off, because a snapshot of 10 000 functions has 400
// 000 numbers.
__attribute__((always_inline)) static inline void
put_number(struct Bytes *bytes, uint64_t value, size_t size)
{
    uint8_t *room;

    if (!bytes->error && bytes->capacity - bytes->size >= size) {
        room = bytes->data + bytes->size;
        bytes->size += size;
    } else {
        room = Bytes_extend(bytes, size);
    }
    value = htole64(value);
    if (room)
        memcpy(room, &value, size);
}

void Bytes_put_u8(struct Bytes *bytes, uint8_t value)
{
    put_number(bytes, value, 1);
}

void Bytes_put_u16(struct Bytes *bytes, uint16_t value)
{
    put_number(bytes, value, 2);
}

void Bytes_put_u32(struct Bytes *bytes, uint32_t value)
{
    put_number(bytes, value, 4);
}

void Bytes_put_u64(struct Bytes *bytes, uint64_t value)
{
    put_number(bytes, value, 8);
}

void Bytes_put_f64(struct Bytes *bytes, double value)
{
    uint64_t bits;

    _Static_assert(sizeof(bits) == sizeof(value), "IEEE 754 double");
    memcpy(&bits, &value, sizeof(bits));
    put_number(bytes, bits, 8);
}

void Bytes_put_text(struct Bytes *bytes, const char *text)
{
    size_t size = text ? strlen(text) : 0;

    if (!text) {
        Bytes_put_u32(bytes, UINT32_MAX);
        return;
    }
    if (size >= UINT32_MAX) {
        bytes->error = -ENOMEM;
        return;
    }
    Bytes_put_u32(bytes, (uint32_t)size);
    Bytes_put(bytes, text, size);
}

struct Cursor Cursor_of(const void *data, size_t size)
{
    const uint8_t *at = data;

    return (struct Cursor){.at = at, .end = size ? at + size : at};
}

size_t Cursor_left(const struct Cursor *cursor)
{
    return cursor->error ? 0 : (size_t)(cursor->end - cursor->at);
}

// Returns a pointer to the next `size` bytes. If there are fewer bytes left,
// sets the cursor's error and returns NULL.
static const uint8_t *take(struct Cursor *cursor, size_t size)
{
    const uint8_t *at = cursor->at;

    if (cursor->error || size > Cursor_left(cursor)) {
        cursor->error = -EPROTO;
        return NULL;
    }
    if (size)
        cursor->at += size;
    return at;
}

__attribute__((always_inline)) static inline uint64_t
take_number(struct Cursor *cursor, size_t size)
{
    const uint8_t *at = take(cursor, size);
    uint64_t value = 0;

    if (at)
        memcpy(&value, at, size);
    return le64toh(value);
}

uint8_t Cursor_u8(struct Cursor *cursor)
{
    return (uint8_t)take_number(cursor, 1);
}

uint16_t Cursor_u16(struct Cursor *cursor)
{
    return (uint16_t)take_number(cursor, 2);
}

uint32_t Cursor_u32(struct Cursor *cursor)
{
    return (uint32_t)take_number(cursor, 4);
}

uint64_t Cursor_u64(struct Cursor *cursor)
{
    return take_number(cursor, 8);
}

double Cursor_f64(struct Cursor *cursor)
{
    uint64_t bits = take_number(cursor, 8);
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

const char *Cursor_text(struct Cursor *cursor, size_t *size)
{
    uint32_t length = Cursor_u32(cursor);
    const uint8_t *at;

    *size = 0;
    if (cursor->error || length == UINT32_MAX)
        return NULL;
    at = take(cursor, length);
    if (at)
        *size = length;
    return (const char *)at;
}
