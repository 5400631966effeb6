// SPDX-License-Identifier: MIT
// Reads text from a stranger: UTF-8, one glyph at a time. U+FFFD replaces
// everything that could disturb a terminal or deceive its reader. Widths are
// those of the C library in the current locale, so curses agrees with them.
// Pure functions, any thread.
#ifndef OCULAR_TUI_TEXT_TEXT_H
#define OCULAR_TUI_TEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_BAD 0xFFFDu // stands for what cannot be shown
#define TEXT_MARKS 2     // combining marks that one glyph keeps

struct Glyph {
    uint32_t code;
    uint32_t marks[TEXT_MARKS]; // 0 = none
    int width;                  // cells: 1 or 2
};

// Reads one code point and moves *at past it; 0 at the end. TEXT_BAD: bytes
// that are not UTF-8, of which one is skipped, so that nothing valid is lost.
uint32_t Text_decode(const char **at);
// Writes a code point as UTF-8 (no NUL) and returns the bytes used.
size_t Text_encode(char out[4], uint32_t code);
// Is it a control, bidirectional or invisible character? They never reach a
// terminal.
bool Text_is_harmful(uint32_t code);
// Reads the next glyph to show; false at the end of the text.
bool Text_next(const char **at, struct Glyph *glyph);
// Does the text (or NULL) contain this part, whatever the case? Every text
// contains "".
bool Text_has(const char *text, const char *part);
// Returns the cells that the text takes.
int Text_width(const char *text);
// Returns the bytes of the text that fit into one line of so many cells, to the
// end of a word if one ends there; never 0 but for "".
size_t Text_line(const char *text, int cells);
// Writes a harmless copy, cut at a glyph to fit `size` with its NUL. Returns
// the bytes written.
size_t Text_clean(char *out, size_t size, const char *text);
// Returns the last `size` bytes of the text, or less, so that a glyph begins
// there.
const char *Text_tail(const char *text, size_t size);
// Returns the nearest ASCII character: our own symbols have one, the rest is
// '?'.
char Text_ascii(uint32_t code);

#endif
