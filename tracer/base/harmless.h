// SPDX-License-Identifier: MIT
// Makes text of the traced program safe to print. The result is always valid
// UTF-8, as JSON needs it. On request the result has no characters that move a
// terminal's cursor or reverse the text's direction, as the report needs it.
#ifndef OCULAR_TRACER_BASE_HARMLESS_H
#define OCULAR_TRACER_BASE_HARMLESS_H

#include <stdbool.h>
#include <stddef.h>

// Copies `text` into the `size` (at least 4) bytes at `out` as valid UTF-8 that
// ends in a NUL. If the text is too long, its end is replaced by "...". Each
// byte that is not UTF-8 becomes U+FFFD. If `printable` is set, each control
// and formatting character becomes U+FFFD, too. Returns the length without the
// NUL.
size_t Harmless_clean(char *out, size_t size, const char *text, bool printable);
// Returns the number of characters in `text`, which must be valid UTF-8.
size_t Harmless_width(const char *text);

#endif
