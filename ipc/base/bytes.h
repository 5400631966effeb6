// SPDX-License-Identifier: MIT
// struct Bytes is a growing buffer for writing, and struct Cursor reads bytes.
// All numbers in the bytes are little-endian. After an error all further calls
// do nothing, so the caller checks for errors only once, at the end.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct Bytes {
    uint8_t *data;
    size_t size;
    size_t capacity;
    // An error of the buffer: 0 or -ENOMEM. An error stays until Bytes_clear.
    int error;
};

void Bytes_init(struct Bytes *bytes);
void Bytes_release(struct Bytes *bytes);
// Empties the buffer and clears its error, but keeps its memory.
void Bytes_clear(struct Bytes *bytes);
// Adds `size` bytes to the end of the buffer. Returns a pointer to the new
// bytes, or NULL.
uint8_t *Bytes_extend(struct Bytes *bytes, size_t size);
void Bytes_put(struct Bytes *bytes, const void *data, size_t size);
void Bytes_put_u8(struct Bytes *bytes, uint8_t value);
void Bytes_put_u16(struct Bytes *bytes, uint16_t value);
void Bytes_put_u32(struct Bytes *bytes, uint32_t value);
void Bytes_put_u64(struct Bytes *bytes, uint64_t value);
void Bytes_put_f64(struct Bytes *bytes, double value);
// Writes the length of a text as a u32, and then its bytes. If the text is
// NULL, the length is UINT32_MAX.
void Bytes_put_text(struct Bytes *bytes, const char *text);

struct Cursor {
    const uint8_t *at;
    const uint8_t *end;
    int error; // 0, or -EPROTO after a read past the end of the bytes.
};

struct Cursor Cursor_of(const void *data, size_t size);
size_t Cursor_left(const struct Cursor *cursor);
// After an error, the functions that read a number from the bytes return 0.
uint8_t Cursor_u8(struct Cursor *cursor);
uint16_t Cursor_u16(struct Cursor *cursor);
uint32_t Cursor_u32(struct Cursor *cursor);
uint64_t Cursor_u64(struct Cursor *cursor);
double Cursor_f64(struct Cursor *cursor);
// Returns a pointer to the bytes of a text in the buffer, and sets *size.
// Returns NULL for a null text.
const char *Cursor_text(struct Cursor *cursor, size_t *size);
