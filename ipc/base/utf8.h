// SPDX-License-Identifier: MIT
// Reads UTF-8 text that is not trusted, one code point at a time. The functions
// are pure, and any thread may call them.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// The code point that stands for bytes that are not UTF-8.
#define UTF8_BAD 0xFFFDu

// Reads one code point, and moves *at to the byte after it. Returns 0 at the
// end of the text. If the bytes are not UTF-8, returns UTF8_BAD and skips only
// one byte, so that no valid character is lost.
uint32_t Utf8_decode(const char **at);
// Returns true for a control character, a bidirectional character or an
// invisible character. A harmful character could disturb a terminal or deceive
// the reader.
bool Utf8_is_harmful(uint32_t code);
