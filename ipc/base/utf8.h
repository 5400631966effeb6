// SPDX-License-Identifier: MIT
// Reads UTF-8 text that is not trusted, one code point at a time, and makes a
// hash of a text. The functions are pure, and any thread may call them.
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

// Adds a text with its end to an FNV-1a hash. NULL is not the same as "".
static inline uint64_t Utf8_hash(uint64_t hash, const char *text)
{
    const char *at = text ? text : "\xFF";
    do
        hash = (hash ^ (uint8_t)*at) * UINT64_C(0x100000001B3);
    while (*at++);
    return hash;
}
