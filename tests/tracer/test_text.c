// SPDX-License-Identifier: MIT
// Tests how harmless and harmful texts of a traced program are cleaned.
#include "tracer/base/harmless.h"

#include <string.h>

#include "tests/unit.h"

#define BAD "\xef\xbf\xbd"

TEST(text_is_cleaned_and_cut)
{
    static const struct {
        const char *text;
        bool printable;
        size_t size;
        const char *clean;
    } cases[] = {
        {"", true, 64, ""},
        {"Parser.<locals>.f", true, 64, "Parser.<locals>.f"},
        {"größe.数.\xf0\x9f\x90\x8d", true, 64, "größe.数.\xf0\x9f\x90\x8d"},
        // The writer of JSON escapes these characters.
        {"a\tb\n\033[2J", false, 64, "a\tb\n\033[2J"},
        {"a\xff.", false, 64, "a" BAD "."},
        {"\033[31mred\r\n", true, 64, BAD "[31mred" BAD BAD},
        {"\x7f\xc2\x9b", true, 64, BAD BAD},  // DEL and CSI.
        {"a\xe2\x80\xae", true, 64, "a" BAD}, // right-to-left override.
        {"\xe2\x81\xa6x", true, 64, BAD "x"}, // isolate
        {"\xef\xbb\xbf", true, 64, BAD},      // Byte order mark.
        {"\xe2\x80\xa9", true, 64, BAD},      // paragraph separator.
        // Long text is cut between characters.
        {"123456789", false, 10, "123456789"},
        {"1234567890", false, 10, "123456..."},
        {"12345\xc3\xa4\xc3\xa4\xc3\xa4", false, 10, "12345..."},
        {"12345", false, 4, "..."},
    };
    char out[64];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(Harmless_clean(out, cases[i].size, cases[i].text,
                                        cases[i].printable),
                         strlen(cases[i].clean));
        assert_string_equal(out, cases[i].clean);
    }
}

TEST(width_is_in_characters)
{
    assert_int_equal(Harmless_width(""), 0);
    assert_int_equal(Harmless_width("gr\xc3\xb6\xc3\x9f"
                                    "e"),
                     5);
}
