// SPDX-License-Identifier: MIT
// Reads UTF-8 text that is not trusted, one glyph at a time. U+FFFD replaces
// every character that could disturb a terminal or deceive a reader. The C
// library computes the widths of glyphs in the current locale, because curses
// uses the same widths. The functions are pure, and any thread may call them.
#pragma once

#include "ipc/base/utf8.h"

#include <stddef.h>

#define TEXT_MARKS 2 // number of combining marks that are kept for one glyph

struct Glyph {
    uint32_t code;
    uint32_t marks[TEXT_MARKS]; // combining marks; 0 stands for no mark
    int width;                  // width in cells, 1 or 2
};

// Writes a code point as UTF-8 without a NUL. Returns the number of bytes.
size_t Text_encode(char out[4], uint32_t code);
// Reads the next glyph that can be shown. Returns false at the end of the text.
bool Text_next(const char **at, struct Glyph *glyph);
// Returns true if the text contains `part`. Upper and lower case count as
// equal. The empty `part` is in every text, even in NULL.
bool Text_has(const char *text, const char *part);
// Returns the number of cells that the text needs.
int Text_width(const char *text);
// Returns the number of bytes that fit into a line of `cells` cells. The line
// ends at the end of a word if possible. Returns 0 only if the text is "".
size_t Text_line(const char *text, int cells);
// Writes a copy of the text in which harmful characters are replaced. The copy
// with its NUL has at most `size` bytes, and ends with a whole glyph. Returns
// the number of bytes.
size_t Text_clean(char *out, size_t size, const char *text);
// Returns a pointer to the last bytes of the text, at most `size`, beginning
// with a whole character.
const char *Text_tail(const char *text, size_t size);
// Returns an ASCII character for a symbol of Ocular, and '?' for any other
// character beyond ASCII.
char Text_ascii(uint32_t code);
