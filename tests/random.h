// SPDX-License-Identifier: MIT
// Makes random numbers by Marsaglia's xorshift64. The numbers are the same in
// each run. Each test program has a sequence of its own.
#pragma once

#include <stdint.h>

static uint64_t seed = 0x9e3779b97f4a7c15; // the seed can be any value except 0

static inline uint64_t random_u64(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}
