// SPDX-License-Identifier: MIT
// The location table is a run of entries, each for one to eight code units. An
// entry's first byte, and only that one, has bit 7 set: 1 code:4 length-1:3.
// Columns and end lines are skipped: the next entry is found by its first bit.
#include "tracer/lines.h"

#define FIRST 0x80    // bit of an entry's first byte
#define CONTINUE 0x40 // bit of a variable-length number that goes on

enum EntryCode {         // 0 to 9: same line
    ENTRY_ONE_LINE = 10, // to 12: that many lines further, less 10
    ENTRY_NO_COLUMNS = 13,
    ENTRY_LONG = 14,
    ENTRY_NONE = 15
};

struct Table {
    const uint8_t *at;
    const uint8_t *end;
};

// Six bits a byte, least significant first; the lowest bit is the sign.
static int64_t signed_number(struct Table *table)
{
    uint64_t value = 0;
    unsigned shift = 0;

    while (table->at < table->end && !(*table->at & FIRST)) {
        uint8_t byte = *table->at++;

        if (shift < 60)
            value |= (uint64_t)(byte & 0x3f) << shift;
        shift += 6;
        if (!(byte & CONTINUE))
            break;
    }
    return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

static int64_t line_step(struct Table *table, unsigned code)
{
    if (code == ENTRY_NO_COLUMNS || code == ENTRY_LONG)
        return signed_number(table);
    if (code >= ENTRY_ONE_LINE && code < ENTRY_NO_COLUMNS)
        return (int64_t)code - ENTRY_ONE_LINE;
    return 0;
}

void Lines_decode(uint32_t *lines, size_t unit_count, const uint8_t *table,
                  size_t size, uint32_t first_line)
{
    struct Table rest = {table, table + size};
    int64_t line = first_line;
    size_t unit = 0;

    while (unit < unit_count && rest.at < rest.end) {
        uint8_t first = *rest.at++;
        unsigned code = first >> 3 & 15, count = (first & 7) + 1;
        int64_t step;

        if (!(first & FIRST))
            continue; // the rest of an entry
        step = line_step(&rest, code);
        // A line that no file has: damaged; go on with what is left.
        if (line + step >= 0 && line + step <= INT32_MAX)
            line += step;
        for (; count && unit < unit_count; count--)
            lines[unit++] = code == ENTRY_NONE ? 0 : (uint32_t)line;
    }
    while (unit < unit_count)
        lines[unit++] = 0;
}
