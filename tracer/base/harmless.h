// SPDX-License-Identifier: MIT
// Makes text of the traced program harmless: valid UTF-8 for JSON, and nothing
// that moves a terminal's cursor or turns its text around for the report.
#ifndef OCULAR_TRACER_BASE_HARMLESS_H
#define OCULAR_TRACER_BASE_HARMLESS_H

#include <stdbool.h>
#include <stddef.h>

// Copies `text` as valid UTF-8, NUL-terminated, at most size - 1 bytes (size
// is 4 or more); text that is cut ends in "...". Bytes that are not UTF-8
// become U+FFFD; with `printable` so do control and formatting characters.
// Returns the length.
size_t Harmless_clean(char *out, size_t size, const char *text, bool printable);
// Characters in valid UTF-8.
size_t Harmless_width(const char *text);

#endif
