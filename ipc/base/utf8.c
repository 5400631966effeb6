// SPDX-License-Identifier: MIT
#include "ipc/base/utf8.h"

#include <stddef.h>

static int sequence_length(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xC2 && lead <= 0xDF)
        return 2;
    if (lead >= 0xE0 && lead <= 0xEF)
        return 3;
    if (lead >= 0xF0 && lead <= 0xF4)
        return 4;
    return 0;
}

uint32_t Utf8_decode(const char **at)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)*at;
    int length = sequence_length(bytes[0]);
    if (bytes[0] == 0)
        return 0;
    *at += 1;
    if (length == 0)
        return UTF8_BAD;
    if (length == 1)
        return bytes[0];
    uint32_t code = bytes[0] & (0x7Fu >> length);
    for (int i = 1; i < length; i++) {
        // The loop also stops at the NUL at the end of the text.
        if ((bytes[i] & 0xC0) != 0x80)
            return UTF8_BAD;
        code = code << 6 | (bytes[i] & 0x3Fu);
    }
    if (code < least[length] || code > 0x10FFFF ||
        (code >= 0xD800 && code <= 0xDFFF))
        return UTF8_BAD;
    *at += length - 1;
    return code;
}

bool Utf8_is_harmful(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x0000, 0x001F},   // C0
        {0x007F, 0x009F},   // DEL and C1.
        {0x00AD, 0x00AD},   // soft hyphen
        {0x034F, 0x034F},   // grapheme joiner
        {0x061C, 0x061C},   // Arabic letter mark.
        {0x115F, 0x1160},   // Hangul fillers
        {0x17B4, 0x17B5},   // Khmer inherent vowels.
        {0x180B, 0x180F},   // Mongolian selectors
        {0x200B, 0x200F},   // Zero width, direction marks.
        {0x2028, 0x202E},   // Line separators, embeddings, overrides.
        {0x2060, 0x206F},   // Word joiner, isolates.
        {0x3164, 0x3164},   // Hangul filler
        {0xFE00, 0xFE0F},   // Variation selectors: widths differ by terminal.
        {0xFEFF, 0xFEFF},   // Byte order mark.
        {0xFFA0, 0xFFA0},   // halfwidth filler
        {0xFFF0, 0xFFFB},   // interlinear annotation
        {0x1D173, 0x1D17A}, // musical formatting
        {0xE0000, 0xE0FFF}, // tags, selectors
    };
    // Most characters need only two comparisons, because the ranges of harmful
    // characters are sorted.
    for (size_t i = 0;
         i < sizeof ranges / sizeof ranges[0] && code >= ranges[i].first; i++)
        if (code <= ranges[i].last)
            return true;
    return false;
}
