// SPDX-License-Identifier: MIT
// Reads UTF-8 text that is not trusted, one glyph at a time. Each character
// that could disturb a terminal or deceive a reader is replaced by U+FFFD. The
// C library computes the widths of glyphs in the current locale, as it does for
// curses. The functions are pure, and any thread may call them.
#pragma once

#include "ipc/base/utf8.h"

#include <stddef.h>

#define TEXT_MARKS 2 // Number of combining marks that are kept for one glyph.

struct Glyph {
    uint32_t code;
    uint32_t marks[TEXT_MARKS]; // Combining marks; 0 stands for no mark.
    int width;                  // Width in cells, 1 or 2.
};

// Writes a code point as UTF-8 without a NUL. Returns the number of bytes.
size_t Text_encode(char out[4], uint32_t code);
// Reads the next glyph that can be shown. Returns false at the end of the text.
bool Text_next(const char **at, struct Glyph *glyph);
// Returns true if the text contains `part`. Upper and lower case count as
// equal. An empty `part` is in every text, even in NULL.
bool Text_has(const char *text, const char *part);
// Returns the number of cells that the text needs.
int Text_width(const char *text);
// Returns the number of bytes that fit into a line of `cells` cells. If
// possible, the line ends at the end of a word. Returns 0 only if the text is
// "".
size_t Text_line(const char *text, int cells);
// Copies the text and replaces harmful characters in the copy. The copy, with
// its NUL, takes at most `size` bytes, and its last glyph is whole. Returns the
// number of bytes.
size_t Text_clean(char *out, size_t size, const char *text);
// Returns a pointer to the end of the text, which has at most `size` bytes and
// begins with a whole character.
const char *Text_tail(const char *text, size_t size);
// Returns an ASCII character in place of a symbol that Ocular uses, and '?' for
// any other character beyond ASCII.
char Text_ascii(uint32_t code);
