// SPDX-License-Identifier: MIT
// Text from a stranger: UTF-8 read one glyph at a time, with everything that
// could disturb a terminal or deceive its reader replaced by U+FFFD. Widths are
// those of the C library in the current locale, so curses agrees with them.
// Pure functions, any thread.
#ifndef OCULAR_TUI_TEXT_TEXT_H
#define OCULAR_TUI_TEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_BAD 0xFFFDu // what stands for the unprintable
#define TEXT_MARKS 2     // combining marks kept on one glyph

struct Glyph {
    uint32_t code;
    uint32_t marks[TEXT_MARKS]; // 0 = none
    int width;                  // cells: 1 or 2
};

// One code point, *at advanced past it; TEXT_BAD for bytes that are not UTF-8
// (one byte is skipped, so that nothing valid is lost). 0 at the end.
uint32_t Text_decode(const char **at);
// Writes a code point as UTF-8 (no NUL) and returns the bytes used.
size_t Text_encode(char out[4], uint32_t code);
// Controls, bidirectional and invisible characters: never sent to a terminal.
bool Text_is_harmful(uint32_t code);
// The next glyph to show; false at the end of the text.
bool Text_next(const char **at, struct Glyph *glyph);
// Has text (or NULL) this part in it, whatever the case? "" is in every text.
bool Text_has(const char *text, const char *part);
// Cells the text takes.
int Text_width(const char *text);
// A harmless copy, cut at a glyph to fit `size` with its NUL; bytes written.
size_t Text_clean(char *out, size_t size, const char *text);
// The last `size` bytes of text or a little less: where a glyph begins.
const char *Text_tail(const char *text, size_t size);
// The nearest ASCII character: our own symbols have one, all else is '?'.
char Text_ascii(uint32_t code);

#endif
