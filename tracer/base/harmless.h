// SPDX-License-Identifier: MIT
// Makes texts of the traced program safe to print. The cleaned text is always
// valid UTF-8, which JSON requires. On request the cleaned text contains no
// characters that move a terminal's cursor or reverse the direction of text.
// The report requests such a text.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Copies `text` to `out` as valid UTF-8 that ends in a NUL, in at most `size`
// bytes, where `size` is at least 4. If the text is too long, the end of the
// copy is "...". Each byte that is not part of valid UTF-8 becomes U+FFFD. If
// `printable` is true, each control and formatting character also becomes
// U+FFFD. Returns the length of the copy without the NUL.
size_t Harmless_clean(char *out, size_t size, const char *text, bool printable);
// Returns the number of characters in `text`, which must be valid UTF-8.
size_t Harmless_width(const char *text);
