// SPDX-License-Identifier: MIT
// Protobuf's wire format, byte by byte.
#include "tracer/base/protobuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check(const struct Bytes *out, const char *bytes, size_t size)
{
    assert_int_equal(out->error, 0);
    assert_int_equal(out->size, size);
    assert_memory_equal(out->data, bytes, size);
}

#define CHECK(out, constant) check(out, constant, sizeof(constant) - 1)

static void check_varint(uint64_t value, const char *bytes, size_t size)
{
    uint8_t out[PROTOBUF_VARINT];

    assert_int_equal(Protobuf_put_varint(out, value) - out, size);
    assert_memory_equal(out, bytes, size);
}

static void varints(void **state)
{
    (void)state;
    check_varint(0, "\x00", 1);
    check_varint(1, "\x01", 1);
    check_varint(127, "\x7f", 1);
    check_varint(128, "\x80\x01", 2);
    check_varint(300, "\xac\x02", 2);
    check_varint(16383, "\xff\x7f", 2);
    check_varint(16384, "\x80\x80\x01", 3);
    check_varint(UINT32_MAX, "\xff\xff\xff\xff\x0f", 5);
    check_varint(UINT64_C(1) << 63, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
                 10);
    check_varint(UINT64_MAX, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
}

static void fields(void **state)
{
    uint8_t at[2 * PROTOBUF_VARINT];
    struct Bytes out;

    (void)state;
    assert_int_equal(Protobuf_put_field(at, 34, 300) - at, 4);
    assert_memory_equal(at, "\x90\x02\xac\x02", 4);
    Bytes_init(&out);
    Protobuf_add(&out, 1, 150);
    CHECK(&out, "\x08\x96\x01");
    Bytes_clear(&out);
    Protobuf_add_real(&out, 5, 1.0);
    CHECK(&out, "\x29\0\0\0\0\0\0\xf0\x3f");
    Bytes_clear(&out);
    Protobuf_add_fixed(&out, 47, UINT64_C(0x1122334455667788));
    CHECK(&out, "\xf9\x02\x88\x77\x66\x55\x44\x33\x22\x11");
    Bytes_clear(&out);
    Protobuf_add_text(&out, 2, "testing");
    Protobuf_add_text(&out, 2, NULL);
    CHECK(&out, "\x12\x07testing\x12\x00");
    Bytes_release(&out);
}

static void texts_are_utf8(void **state)
{
    char *text = malloc(100000);
    struct Bytes out;

    (void)state;
    Bytes_init(&out);
    Protobuf_add_text(&out, 1, "\xff\xed\xa0\x80\xc3");
    CHECK(&out,
          "\x0a\x0f\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
          "\xef\xbf\xbd");
    Bytes_clear(&out);
    memset(text, 'x', 99999);
    text[99999] = 0;
    Protobuf_add_text(&out, 1, text);
    assert_true(out.size < 5000);
    assert_memory_equal(out.data + out.size - 3, "...", 3);
    Bytes_release(&out);
    free(text);
}

static void messages_within_messages(void **state)
{
    size_t outer, inner, i;
    struct Bytes out;

    (void)state;
    Bytes_init(&out);
    outer = Protobuf_open(&out, 3);
    inner = Protobuf_open(&out, 1);
    Protobuf_close(&out, inner); // an empty one
    Protobuf_add(&out, 2, 5);
    Protobuf_close(&out, outer);
    CHECK(&out, "\x1a\x04\x0a\x00\x10\x05");
    Bytes_clear(&out);
    // The inner one's length takes two bytes, which the outer one's counts.
    outer = Protobuf_open(&out, 1);
    inner = Protobuf_open(&out, 1);
    for (i = 0; i < 100; i++)
        Protobuf_add(&out, 1, i);
    Protobuf_close(&out, inner);
    Protobuf_close(&out, outer);
    assert_int_equal(out.size, 206);
    assert_memory_equal(out.data, "\x0a\xcb\x01\x0a\xc8\x01\x08\x00\x08\x01",
                        10);
    Bytes_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(varints),
        cmocka_unit_test(fields),
        cmocka_unit_test(texts_are_utf8),
        cmocka_unit_test(messages_within_messages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
