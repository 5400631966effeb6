// SPDX-License-Identifier: MIT
// Tests ipc/base/bytes: byte order, and errors that stay set.
#include "ipc/base/bytes.h"

#include <errno.h>

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
