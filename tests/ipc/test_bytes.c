// SPDX-License-Identifier: MIT
// Tests ipc/base/bytes: byte order, growth, errors that stay set, and limits.
#include "ipc/base/bytes.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "tests/unit.h"

TEST(test_numbers_are_little_endian)
{
    static const uint8_t expected[] = {
        0x01, 0x02, 0x01, 0x04, 0x03, 0x02, 0x01, 0x08, 0x07, 0x06, 0x05, 0x04,
        0x03, 0x02, 0x01, 0,    0,    0,    0,    0,    0,    0xf0, 0x3f};
    struct Bytes bytes;

    Bytes_init(&bytes);
    Bytes_put_u8(&bytes, 0x01);
    Bytes_put_u16(&bytes, 0x0102);
    Bytes_put_u32(&bytes, 0x01020304);
    Bytes_put_u64(&bytes, 0x0102030405060708);
    Bytes_put_f64(&bytes, 1.0);
    assert_int_equal(bytes.error, 0);
    assert_int_equal(bytes.size, sizeof(expected));
    assert_memory_equal(bytes.data, expected, sizeof(expected));
    Bytes_release(&bytes);
}

TEST(test_everything_comes_back)
{
    struct Bytes bytes;
    struct Cursor cursor;
    size_t size;
    const char *text;

    Bytes_init(&bytes);
    Bytes_put_u8(&bytes, UINT8_MAX);
    Bytes_put_u16(&bytes, 0xfedc);
    Bytes_put_u32(&bytes, UINT32_MAX);
    Bytes_put_u64(&bytes, UINT64_MAX);
    Bytes_put_f64(&bytes, -INFINITY);
    Bytes_put_f64(&bytes, NAN);
    Bytes_put_text(&bytes, NULL);
    Bytes_put_text(&bytes, "");
    Bytes_put_text(&bytes, "h\xc3\xa9");

    cursor = Cursor_of(bytes.data, bytes.size);
    assert_int_equal(Cursor_left(&cursor), bytes.size);
    assert_int_equal(Cursor_u8(&cursor), UINT8_MAX);
    assert_int_equal(Cursor_u16(&cursor), 0xfedc);
    assert_int_equal(Cursor_u32(&cursor), UINT32_MAX);
    assert_true(Cursor_u64(&cursor) == UINT64_MAX);
    assert_true(Cursor_f64(&cursor) == -INFINITY);
    assert_true(isnan(Cursor_f64(&cursor)));
    assert_null(Cursor_text(&cursor, &size));
    assert_int_equal(cursor.error, 0);
    text = Cursor_text(&cursor, &size);
    assert_non_null(text);
    assert_int_equal(size, 0);
    text = Cursor_text(&cursor, &size);
    assert_int_equal(size, 3);
    assert_memory_equal(text, "h\xc3\xa9", 3);
    assert_int_equal(Cursor_left(&cursor), 0);
    assert_int_equal(cursor.error, 0);
    Bytes_release(&bytes);
}

TEST(test_growth_keeps_what_is_there)
{
    struct Bytes bytes;
    struct Cursor cursor;
    uint8_t *room;

    Bytes_init(&bytes);
    for (uint32_t i = 0; i < 100000; i++)
        Bytes_put_u32(&bytes, i);
    room = Bytes_extend(&bytes, 3);
    assert_non_null(room);
    assert_ptr_equal(room, bytes.data + 400000);
    assert_int_equal(bytes.size, 400003);
    cursor = Cursor_of(bytes.data, 400000);
    for (uint32_t i = 0; i < 100000; i++)
        assert_int_equal(Cursor_u32(&cursor), i);
    Bytes_clear(&bytes);
    assert_int_equal(bytes.size, 0);
    assert_true(bytes.capacity >= 400003);
    Bytes_release(&bytes);
    assert_null(bytes.data);
}

TEST(test_write_error_sticks_until_clear)
{
    struct Bytes bytes;

    Bytes_init(&bytes);
    Bytes_put_u32(&bytes, 7);
    assert_null(Bytes_extend(&bytes, SIZE_MAX));
    assert_int_equal(bytes.error, -ENOMEM);
    assert_null(Bytes_extend(&bytes, 1));
    Bytes_put_u64(&bytes, 1);
    Bytes_put_text(&bytes, "text");
    assert_int_equal(bytes.size, 4);
    Bytes_clear(&bytes);
    assert_int_equal(bytes.error, 0);
    Bytes_put_u8(&bytes, 1);
    assert_int_equal(bytes.size, 1);
    Bytes_release(&bytes);
}

TEST(test_read_error_sticks)
{
    static const uint8_t data[] = {1, 2, 3, 4, 5};
    struct Cursor cursor = Cursor_of(data, sizeof(data));
    size_t size = 99;

    assert_int_equal(Cursor_u32(&cursor), 0x04030201);
    assert_int_equal(Cursor_u16(&cursor), 0);
    assert_int_equal(cursor.error, -EPROTO);
    // There is one more byte, but the error is still set.
    assert_int_equal(Cursor_u8(&cursor), 0);
    assert_int_equal(Cursor_left(&cursor), 0);
    assert_null(Cursor_text(&cursor, &size));
    assert_int_equal(size, 0);
}
