// SPDX-License-Identifier: MIT
// Tests how harmless and harmful texts of a traced program are cleaned.
#include "tracer/base/harmless.h"

#include <string.h>

#include "tests/unit.h"

#define BAD "\xef\xbf\xbd"

static void expect(const char *text, bool printable, const char *wanted)
{
    char out[64];

    assert_int_equal(Harmless_clean(out, sizeof out, text, printable),
                     strlen(wanted));
    assert_string_equal(out, wanted);
}

TEST(good_text_stays)
{
    expect("", true, "");
    expect("Parser.<locals>.f", true, "Parser.<locals>.f");
    expect("größe.数.\xf0\x9f\x90\x8d", true, "größe.数.\xf0\x9f\x90\x8d");
    // The writer of JSON escapes these characters.
    expect("a\tb\n\033[2J", false, "a\tb\n\033[2J");
}

TEST(bytes_that_are_not_utf8)
{
    expect(
        "a\xff"
        "b",
        false, "a" BAD "b");
}

TEST(nothing_that_steers_a_terminal)
{
    expect("\033[31mred\r\n", true, BAD "[31mred" BAD BAD);
    expect("\x7f\xc2\x9b", true, BAD BAD);  // DEL, and CSI as one character.
    expect("a\xe2\x80\xae", true, "a" BAD); // right-to-left override.
    expect("\xe2\x81\xa6x", true, BAD "x"); // isolate
    expect("\xef\xbb\xbf", true, BAD);      // Byte order mark.
    expect("\xe2\x80\xa9", true, BAD);      // paragraph separator.
}

TEST(long_text_is_cut_between_characters)
{
    char out[10];

    assert_int_equal(Harmless_clean(out, 10, "123456789", false), 9);
    assert_string_equal(out, "123456789");
    assert_int_equal(Harmless_clean(out, 10, "1234567890", false), 9);
    assert_string_equal(out, "123456...");
    Harmless_clean(out, 10, "12345\xc3\xa4\xc3\xa4\xc3\xa4", false);
    assert_string_equal(out, "12345...");
    Harmless_clean(out, 4, "12345", false);
    assert_string_equal(out, "...");
}

TEST(width_is_in_characters)
{
    assert_int_equal(Harmless_width(""), 0);
    assert_int_equal(Harmless_width("gr\xc3\xb6\xc3\x9f"
                                    "e"),
                     5);
}
