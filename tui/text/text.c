// SPDX-License-Identifier: MIT
#define _GNU_SOURCE 1 // wcwidth, strcasestr
#include "tui/text/text.h"

#include <string.h>
#include <wchar.h>

size_t Text_encode(char out[4], uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

static int code_width(uint32_t code)
{
    if (code >= 0x20 && code < 0x7F)
        return 1;
    return Utf8_is_harmful(code) ? -1 : wcwidth((wchar_t)code);
}

// Reads the combining marks that follow a character. Only TEXT_MARKS marks are
// kept, because hundreds of them would cover the lines above.
static void take_marks(const char **at, struct Glyph *glyph)
{
    for (int count = 0;; count++) {
        const char *next = *at;
        uint32_t code = Utf8_decode(&next);
        if (code < 0x80 || code_width(code) != 0)
            return;
        if (count < TEXT_MARKS)
            glyph->marks[count] = code;
        *at = next;
    }
}

bool Text_next(const char **at, struct Glyph *glyph)
{
    uint32_t code = Utf8_decode(at);
    if (code == 0)
        return false;
    int width = code_width(code);
    // A combining mark at the beginning is replaced, because it could disturb
    // the terminal.
    *glyph = (struct Glyph){.code = width < 1 ? UTF8_BAD : code,
                            .width = width < 1 ? 1 : width};
    take_marks(at, glyph);
    return true;
}

bool Text_has(const char *text, const char *part)
{
    return strcasestr(text ? text : "", part) != NULL;
}

int Text_width(const char *text)
{
    struct Glyph glyph;
    int width = 0;
    while (Text_next(&text, &glyph))
        width += glyph.width;
    return width;
}

size_t Text_line(const char *text, int cells)
{
    const char *at = text, *fits = text, *word = text;
    struct Glyph glyph;
    while (Text_next(&at, &glyph) && (cells -= glyph.width) >= 0) {
        fits = at;
        if (*at == ' ' || !*at)
            word = at;
    }
    fits = word > text ? word : fits;
    return fits > text ? (size_t)(fits - text) : strlen(text);
}

size_t Text_clean(char *out, size_t size, const char *text)
{
    struct Glyph glyph;
    size_t used = 0;
    while (size && Text_next(&text, &glyph)) {
        char bytes[4 * (1 + TEXT_MARKS)];
        size_t count = Text_encode(bytes, glyph.code);
        for (int i = 0; i < TEXT_MARKS && glyph.marks[i]; i++)
            count += Text_encode(bytes + count, glyph.marks[i]);
        if (used + count >= size)
            break;
        memcpy(out + used, bytes, count);
        used += count;
    }
    if (size)
        out[used] = 0;
    return used;
}

const char *Text_tail(const char *text, size_t size)
{
    size_t length = strlen(text);
    if (length <= size)
        return text;
    const char *tail = text + length - size;
    while ((*tail & 0xC0) == 0x80)
        tail++;
    return tail;
}

char Text_ascii(uint32_t code)
{
    static const struct {
        uint32_t code;
        char ascii;
    } table[] = {
        {0x25CF, '*'}, {0x25D0, '+'}, {0x25CB, '-'}, // states of functions
        {0x25B8, '>'}, {0x25B6, '>'}, {0x25BC, 'v'},
        {0x25B2, '^'}, // marker, sort order
        {0x2581, '_'}, {0x2582, '.'}, {0x2583, ','},
        {0x2584, '-'}, {0x2585, '='}, {0x2586, '+'},
        {0x2587, '*'}, {0x2588, '#'}, {0x2591, '.'},
        {0x2592, '+'}, {0x2593, '='}, {0x2595, '['},
        {0x258F, ']'}, // ends of a bar
        {0x2026, '.'}, {0x2014, '-'}, {0x2500, '-'},
        {0x2514, '`'}, {0x00B5, 'u'}, {0x00B7, ' '},
        {0x2502, '|'}, {0x251C, '|'}, {0x2514, '`'},
        {0x25BE, 'v'}, {0x2016, '='}, {0x00B1, '~'},
        {0x25A0, '#'},
    };
    if (code >= 0x20 && code < 0x7F)
        return (char)code;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].code == code)
            return table[i].ascii;
    return '?';
}
