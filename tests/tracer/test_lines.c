// SPDX-License-Identifier: MIT
// Tests location tables as CPython 3.12 and 3.13 make them, and damaged
// location tables.
#include "tracer/base/lines.h"

#include <string.h>

#include "tests/unit.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

// co_linetable of one generator function whose first line is 2, and the lines
// that co_lines() gives for it. The function has a loop, an expression of
// several lines, a comprehension, a handler, a jump of ten lines and a with
// block.
static const uint8_t table_312[] = {
    232, 0,   248, 128, 0,   224, 6,   7,   128, 65,  220, 13,  18,  144,
    49,  139, 88,  242, 0,   3,   5,   21,  136, 1,   216, 11,  12,  136,
    113, 138, 53,  144, 33,  144, 81,  145, 36,  145, 33,  216, 14,  15,
    144, 33,  216, 18,  19,  241, 3,   1,   19,  20,  241, 0,   1,   15,
    21,  137, 97,  240, 5,   3,   5,   21,  240, 8,   4,   5,   17,  224,
    25,  26,  246, 3,   1,   16,  28,  216, 20,  21,  242, 3,   0,   17,
    18,  242, 0,   1,   16,  28,  240, 0,   1,   9,   28,  249, 242, 0,
    1,   16,  28,  248, 228, 11,  21,  242, 0,   1,   5,   17,  220, 8,
    13,  136, 97,  143, 8,   137, 8,   251, 240, 3,   1,   5,   17,  250,
    244, 24,  0,   10,  14,  136, 97,  139, 23,  208, 4,   30,  144, 65,
    152, 81,  146, 119, 215, 4,   30,  215, 4,   30,  209, 4,   30,  252};
static const uint32_t lines_312[] = {
    2,  0,  2,  4,  4,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,
    5,  5,  6,  6,  6,  6,  6,  6,  6,  6,  6,  6,  6,  7,  7,  8,  7,
    7,  7,  7,  7,  7,  5,  9,  11, 10, 10, 10, 10, 10, 10, 10, 11, 10,
    10, 10, 10, 10, 10, 10, 0,  0,  10, 10, 10, 0,  12, 12, 12, 12, 12,
    12, 12, 12, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13,
    13, 13, 0,  0,  0,  0,  12, 0,  0,  0,  24, 24, 24, 24, 24, 24, 24,
    24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24,
    24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 0,  0,  0,  0,  0};
static const uint8_t table_313[] = {
    233, 0,   128, 0,   224, 6,   7,   128, 65,  220, 13,  18, 144, 49,  142,
    88,  136, 1,   216, 11,  12,  136, 113, 143, 53,  144, 33, 145, 36,  146,
    33,  216, 14,  15,  216, 18,  19,  241, 3,   1,   19,  20, 241, 0,   1,
    15,  21,  138, 97,  241, 5,   0,   14,  22,  240, 8,   4,  5,   17,  225,
    25,  26,  243, 3,   1,   16,  28,  217, 25,  26,  144, 65, 243, 3,   0,
    17,  18,  217, 25,  26,  241, 3,   1,   16,  28,  240, 0,  1,   9,   28,
    249, 242, 0,   1,   16,  28,  248, 228, 11,  21,  243, 0,  1,   5,   17,
    220, 8,   13,  136, 97,  143, 8,   137, 8,   251, 240, 3,  1,   5,   17,
    250, 244, 24,  0,   10,  14,  136, 97,  140, 23,  144, 65, 146, 119, 143,
    23,  143, 23,  142, 23,  252};
static const uint32_t lines_313[] = {
    2,  2,  2,  4,  4,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,
    6,  6,  6,  6,  6,  6,  6,  6,  6,  6,  6,  6,  6,  6,  6,  6,  7,  8,  7,
    7,  7,  7,  7,  7,  7,  5,  5,  9,  11, 11, 10, 10, 10, 10, 11, 11, 11, 10,
    10, 10, 10, 11, 11, 10, 10, 10, 0,  0,  10, 10, 10, 0,  12, 12, 12, 12, 12,
    12, 12, 12, 12, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13,
    13, 0,  0,  0,  0,  12, 0,  0,  0,  24, 24, 24, 24, 24, 24, 24, 24, 24, 24,
    24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24,
    24, 24, 24, 24, 24, 24, 24, 24, 24, 0,  0,  0,  0,  0};

TEST(decodes_what_cpython_writes)
{
    uint32_t lines[200];

    Lines_decode(lines, COUNT(lines_312), table_312, sizeof table_312, 2);
    assert_memory_equal(lines, lines_312, sizeof lines_312);
    Lines_decode(lines, COUNT(lines_313), table_313, sizeof table_313, 2);
    assert_memory_equal(lines, lines_313, sizeof lines_313);
}

TEST(every_kind_of_entry)
{
    const uint8_t table[] = {
        // Line + 36, as a number of two bytes.
        0x80 | 13 << 3,
        0x40 | 0x08,
        0x01,
        0x80 | 12 << 3,
        1,
        2, // +2
        0x80 | 14 << 3,
        3,
        4,
        5,
        6, // -1
        0x80 | 0 << 3,
        1,                  // same line.
        0x80 | 15 << 3 | 7, // no line.
    };
    const uint32_t wanted[] = {46, 48, 47, 47, 0, 0, 0};
    uint32_t lines[COUNT(wanted) + 1] = {0};

    // This element must not be written, because the code is shorter.
    lines[COUNT(wanted)] = 1234;
    Lines_decode(lines, COUNT(wanted), table, sizeof table, 10);
    assert_memory_equal(lines, wanted, sizeof wanted);
    assert_int_equal(lines[COUNT(wanted)], 1234);
}

// The table is cut off at each length, and its memory ends at the cut.
TEST(a_table_cut_off_is_not_read_beyond)
{
    uint32_t lines[200];
    size_t size;

    for (size = 0; size < sizeof table_312; size++) {
        uint8_t *table = malloc(size ? size : 1);

        memcpy(table, table_312, size);
        Lines_decode(lines, COUNT(lines_312), table, size, 2);
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
    // Some numbers in this table never end, and some lines are before the first
    // or beyond the last possible line.
    memset(table, 0x7f, sizeof table);
    table[0] = 0x80 | 13 << 3;
    Lines_decode(lines, 100, table, sizeof table, UINT32_MAX);
    Lines_decode(lines, 100, table, sizeof table, 7);
    assert_int_equal(lines[0], 7);
    assert_int_equal(lines[1], 0);
}
