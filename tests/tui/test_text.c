// SPDX-License-Identifier: MIT
// Tests that text from a traced process becomes harmless, and that its width is
// right.
#define _GNU_SOURCE 1 // for wcwidth()
#include "tui/text/text.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "tests/unit.h"

#define BAD "\xef\xbf\xbd"

static const char *clean(const char *text)
{
    static char out[256];
    Text_clean(out, sizeof out, text);
    return out;
}

TEST(test_plain_text_stays)
{
    assert_string_equal(clean("Plan.execute <x>~"), "Plan.execute <x>~");
    assert_string_equal(clean("caf\xc3\xa9 \xe6\x95\xb0 \xf0\x9f\x90\x8d"),
                        "caf\xc3\xa9 \xe6\x95\xb0 \xf0\x9f\x90\x8d");
    assert_int_equal(Text_width("caf\xc3\xa9"), 4);
    assert_int_equal(Text_width("\xe6\x95\xb0\xe6\x8d\xae"), 4);
    assert_int_equal(Text_width(""), 0);
}

TEST(test_controls_and_deceivers_are_replaced)
{
    // clang-format off
    static const char *const harmful[] = {
        "\x1b", "\x07", "\n", "\t", "\x7f", "\xc2\x80", "\xc2\x9b", "\xc2\xad",
        "\xe2\x80\x8b", "\xe2\x80\x8d", "\xe2\x80\x8e", "\xe2\x80\xa8",
        "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9", "\xef\xbb\xbf",
        "\xd8\x9c", "\xef\xb8\x8f", "\xf3\xa0\x80\x81", "\xe3\x85\xa4",
    };
    // clang-format on
    char behind[16];
    for (size_t i = 0; i < sizeof harmful / sizeof *harmful; i++) {
        assert_string_equal(clean(harmful[i]), BAD);
        assert_int_equal(Text_width(harmful[i]), 1);
        // A combining mark after a letter would stay, but this harmful
        // character is removed.
        snprintf(behind, sizeof behind, "a%s", harmful[i]);
        assert_string_equal(clean(behind), "a" BAD);
    }
}

TEST(test_invalid_bytes_lose_nothing_valid)
{
    assert_string_equal(clean("a\xff"
                              "b"),
                        "a" BAD "b");
    // The first bytes of a character without the rest.
    assert_string_equal(clean("a\xe2\x82"), "a" BAD BAD);
    assert_string_equal(clean("\xc0\xaf"), BAD BAD); // an overlong "/"
    assert_string_equal(clean("\xe0\x80\xaf"), BAD BAD BAD);
    // An encoded surrogate, and a number that is too large.
    assert_string_equal(clean("\xed\xa0\x80"), BAD BAD BAD);
    assert_string_equal(clean("\xf4\x90\x80\x80"), BAD BAD BAD BAD);
    assert_string_equal(clean("\xe2\x1b["), BAD BAD "[");
}

TEST(test_marks_are_kept_but_few)
{
    char smear[300] = "a";
    struct Glyph glyph;
    const char *at = smear;
    for (int i = 0; i < 100; i++)
        strcat(smear, "\xcc\x81");
    strcat(smear, "b");
    assert_true(Text_next(&at, &glyph));
    assert_int_equal(glyph.code, 'a');
    assert_int_equal(glyph.marks[TEXT_MARKS - 1], 0x301);
    assert_true(Text_next(&at, &glyph));
    assert_int_equal(glyph.code, 'b');
    assert_int_equal(Text_width(smear), 2);
    // There is no letter before the combining mark.
    assert_string_equal(clean("\xcc\x81x"), BAD "x");
}

// In random bytes, Text_clean leaves no harmful character, and Text_width is
// the width that the C library computes for the cleaned text.
TEST(test_random_bytes)
{
    char dirty[64], out[256];
    srand(7);
    for (int round = 0; round < 20000; round++) {
        size_t size = (size_t)rand() % (sizeof dirty - 1);
        for (size_t i = 0; i < size; i++)
            dirty[i] = (char)(rand() % 4 ? 0x80 + rand() % 128 : rand() % 255);
        dirty[size] = 0;
        assert_true(Text_clean(out, sizeof out, dirty) < sizeof out);
        const char *at = out;
        uint32_t code;
        int width = 0;
        while ((code = Utf8_decode(&at)) != 0) {
            assert_false(Utf8_is_harmful(code));
            int cells = wcwidth((wchar_t)code);
            assert_true(cells >= 0);
            width += cells;
        }
        assert_int_equal(width, Text_width(dirty));
    }
}

TEST(test_copy_is_cut_at_a_glyph)
{
    char out[6];
    assert_int_equal(Text_clean(out, sizeof out, "ab\xe6\x95\xb0z"), 5);
    assert_string_equal(out, "ab\xe6\x95\xb0");
    assert_int_equal(Text_clean(out, 4, "ab\xe6\x95\xb0z"), 2);
    assert_string_equal(out, "ab");
    assert_int_equal(Text_clean(out, 0, "ab"), 0);
    assert_string_equal(Text_tail("abc\xe6\x95\xb0z", 3), "z");
    assert_string_equal(Text_tail("abc", 3), "abc");
}

TEST(test_ascii)
{
    assert_int_equal(Text_ascii('a'), 'a');
    assert_int_equal(Text_ascii(0x25CF), '*');
    assert_int_equal(Text_ascii(0x6570), '?');
    assert_int_equal(Text_ascii(0x9B), '?');
}

TEST(test_lines)
{
    assert_int_equal(Text_line("", 5), 0);
    assert_int_equal(Text_line("one two", 7), 7);
    // The line ends after a whole word.
    assert_int_equal(Text_line("one two", 6), 3);
    assert_int_equal(Text_line("one two", 3), 3);
    // The width is too small for a word.
    assert_int_equal(Text_line("one two", 2), 2);
    // The width is too small for a glyph.
    assert_int_equal(Text_line("one", 0), 3);
    assert_int_equal(Text_line("\xe6\x95\xb0\xe6\x8d\xae x", 4), 6);
    assert_int_equal(Text_line("\xe6\x95\xb0\xe6\x8d\xae x", 3), 3);
}
