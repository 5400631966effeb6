// SPDX-License-Identifier: MIT
// Writes numbers as text, for the writer of JSON. An event in JSON consists of
// a few constant texts and of digits. The functions of digits.h have no state.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DIGITS 24 // Largest number of bytes of a time as text.

// Each function of this file returns the address behind the last byte that it
// has written.
static inline uint8_t *Digits_copy(uint8_t *at, const void *data, size_t size)
{
    memcpy(at, data, size);
    return at + size;
}

static inline uint8_t *Digits_put(uint8_t *at, uint64_t value)
{
    uint8_t digits[DIGITS], *first = digits + sizeof digits;

    do {
        *--first = (uint8_t)('0' + value % 10);
        value /= 10;
    } while (value);
    return Digits_copy(at, first, (size_t)(digits + sizeof digits - first));
}

// Writes a time of `ns` nanoseconds as microseconds with three decimals.
static inline uint8_t *Digits_put_micros(uint8_t *at, uint64_t ns)
{
    unsigned rest = (unsigned)(ns % 1000);

    at = Digits_put(at, ns / 1000);
    *at++ = '.';
    *at++ = (uint8_t)('0' + rest / 100);
    *at++ = (uint8_t)('0' + rest / 10 % 10);
    *at++ = (uint8_t)('0' + rest % 10);
    return at;
}
