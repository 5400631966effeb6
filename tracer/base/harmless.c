// SPDX-License-Identifier: MIT
// Cleans a text in one pass, one character at a time. All functions are pure.
#include "tracer/base/harmless.h"

#include <stdint.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" // U+FFFD

// Returns the number of bytes of the character at `at`, or 0 if the bytes are
// not well-formed UTF-8. Stores the code point in `character`.
static size_t read_character(const unsigned char *at, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = at[0] < 0x80   ? 1
                    : at[0] < 0xc0 ? 0
                    : at[0] < 0xe0 ? 2
                    : at[0] < 0xf0 ? 3
                    : at[0] < 0xf8 ? 4
                                   : 0;
    size_t i;

    if (length < 2) {
        *character = at[0];
        return length;
    }
    *character = at[0] & (0x7fu >> length);
    for (i = 1; i < length; i++) { // a NUL also ends this loop
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        *character = *character << 6 | (at[i] & 0x3fu);
    }
    if (*character < least[length] || *character > 0x10ffff ||
        (*character >= 0xd800 && *character < 0xe000))
        return 0;
    return length;
}

static bool is_printable(uint32_t c)
{
    if (c < 0x20 || (c >= 0x7f && c < 0xa0))
        return false;
    if (c == 0xad || c == 0x61c || c == 0xfeff) // invisible characters
        return false;
    if ((c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
        (c >= 0x2060 && c <= 0x206f)) // spaces, line ends, changes of direction
        return false;
    return !(c >= 0xe0000 && c <= 0xe0fff); // tag characters
}

size_t Harmless_clean(char *out, size_t size, const char *text, bool printable)
{
    const unsigned char *at = (const unsigned char *)text;
    // `fits` is the length that leaves room for "..."
    size_t used = 0, fits = 0;

    while (*at) {
        const char *bytes = (const char *)at;
        uint32_t character;
        size_t read = read_character(at, &character), length = read;

        if (!read || (printable && !is_printable(character))) {
            bytes = REPLACEMENT;
            length = 3;
        }
        if (used + length + 1 > size) {
            memcpy(out + fits, "...", 4);
            return fits + 3;
        }
        memcpy(out + used, bytes, length);
        used += length;
        if (used + 4 <= size)
            fits = used;
        at += read ? read : 1;
    }
    out[used] = 0;
    return used;
}

size_t Harmless_width(const char *text)
{
    size_t width = 0;

    for (; *text; text++)
        width += (*text & 0xc0) != 0x80;
    return width;
}
