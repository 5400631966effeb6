// SPDX-License-Identifier: MIT
// Cleans a text in one pass, one character after the other. The functions in
// this file have no state.
#include "tracer/base/harmless.h"

#include "ipc/base/utf8.h"

#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" // The character U+FFFD in UTF-8.

static bool is_printable(uint32_t c)
{
    if (c < 0x20 || (c >= 0x7f && c < 0xa0))
        return false;
    // The soft hyphen, the Arabic letter mark and the byte order mark are
    // invisible.
    if (c == 0xad || c == 0x61c || c == 0xfeff)
        return false;
    // These ranges of Unicode have invisible spaces, line separators, and
    // characters that change the direction of the text.
    if ((c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
        (c >= 0x2060 && c <= 0x206f))
        return false;
    // Unicode's tag characters are invisible.
    return !(c >= 0xe0000 && c <= 0xe0fff);
}

size_t Harmless_clean(char *out, size_t size, const char *text, bool printable)
{
    const char *bytes = text;
    // `fits` is the largest length so far after which "..." still fits.
    size_t used = 0, fits = 0;
    uint32_t character;

    while ((character = Utf8_decode(&text)) != 0) {
        size_t length = (size_t)(text - bytes);

        if (character == UTF8_BAD || (printable && !is_printable(character))) {
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
        bytes = text;
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
