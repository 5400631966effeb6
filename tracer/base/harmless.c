// SPDX-License-Identifier: MIT
#include "tracer/base/harmless.h"

#include "ipc/base/utf8.h"

#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" // The character U+FFFD in UTF-8.

size_t Harmless_clean(char *out, size_t size, const char *text, bool printable)
{
    const char *bytes = text;
    // `fits` is the largest length so far after which "..." still fits.
    size_t used = 0, fits = 0;
    uint32_t character;

    while ((character = Utf8_decode(&text)) != 0) {
        size_t length = (size_t)(text - bytes);

        if (character == UTF8_BAD ||
            (printable && Utf8_is_harmful(character))) {
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
