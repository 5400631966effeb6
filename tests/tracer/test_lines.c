// SPDX-License-Identifier: MIT
// Tests location tables with every kind of entry, and damaged location tables.
// tests/python/test_listing.py compares the lines with those of dis.
#include "tracer/base/lines.h"

#include <string.h>

#include "tests/unit.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

// clang-format off
static const uint8_t EVERY_KIND[] = {
    0x80 | 13 << 3, 0x40 | 0x08, 0x01, // Line + 36, in two bytes.
    0x80 | 12 << 3, 1, 2,              // +2
    0x80 | 14 << 3, 3, 4, 5, 6,        // -1
    0x80 | 0 << 3, 1,                  // same line.
    0x80 | 15 << 3 | 7,                // no line.
};
// clang-format on
static const uint32_t WANTED[] = {46, 48, 47, 47, 0, 0, 0};

TEST(every_kind_of_entry)
{
    uint32_t lines[COUNT(WANTED) + 1] = {0};

    // Lines_decode must not write beyond the length of the code.
    lines[COUNT(WANTED)] = 1234;
    Lines_decode(lines, COUNT(WANTED), EVERY_KIND, sizeof EVERY_KIND, 10);
    assert_memory_equal(lines, WANTED, sizeof WANTED);
    assert_int_equal(lines[COUNT(WANTED)], 1234);
}

TEST(a_table_cut_off_is_not_read_beyond)
{
    uint32_t lines[COUNT(WANTED)];

    for (size_t size = 0; size < sizeof EVERY_KIND; size++) {
        uint8_t *table = malloc(size ? size : 1);

        memcpy(table, EVERY_KIND, size);
        Lines_decode(lines, COUNT(lines), table, size, 2);
        free(table);
    }
}

TEST(nonsense_gives_lines_nobody_minds)
{
    uint8_t table[64];
    uint32_t lines[100], seed = 1;
    size_t i, round;

    for (round = 0; round < 20000; round++) {
        for (i = 0; i < sizeof table; i++) {
            seed = seed * 1664525 + 1013904223;
            table[i] = (uint8_t)(seed >> 24);
        }
        Lines_decode(lines, 100, table, seed % sizeof table, seed);
    }
    // In this table, some numbers have no last byte, and some lines are less
    // than the first or more than the last possible line.
    memset(table, 0x7f, sizeof table);
    table[0] = 0x80 | 13 << 3;
    Lines_decode(lines, 100, table, sizeof table, UINT32_MAX);
    Lines_decode(lines, 100, table, sizeof table, 7);
    assert_int_equal(lines[0], 7);
    assert_int_equal(lines[1], 0);
}
