// SPDX-License-Identifier: MIT
// The location table is a run of entries, each for one to eight code units. An
// entry's first byte, and only that one, has bit 7 set: 1 code:4 length-1:3.
// Columns and end lines are skipped: the next entry is found by its first bit.
#include "tracer/base/lines.h"

#define FIRST 0x80    // bit of an entry's first byte
#define CONTINUE 0x40 // bit of a variable-length number that goes on

enum EntryCode {         // 0 to 9: same line
    ENTRY_ONE_LINE = 10, // to 12: that many lines further, less 10
    ENTRY_NO_COLUMNS = 13,
    ENTRY_LONG = 14,
    ENTRY_NONE = 15
};

// Six bits a byte, least significant first; the lowest bit is the sign.
static int64_t signed_number(struct LineReader *table)
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

static int64_t line_step(struct LineReader *table, unsigned code)
{
    if (code == ENTRY_NO_COLUMNS || code == ENTRY_LONG)
        return signed_number(table);
    if (code >= ENTRY_ONE_LINE && code < ENTRY_NO_COLUMNS)
        return (int64_t)code - ENTRY_ONE_LINE;
    return 0;
}

void LineReader_init(struct LineReader *reader, const uint8_t *table,
                     size_t size, uint32_t first_line)
{
    *reader = (struct LineReader){table, table + size, first_line, 0, true};
}

uint32_t LineReader_line(struct LineReader *reader, size_t unit)
{
    while (reader->behind <= unit && reader->at < reader->end) {
        uint8_t first = *reader->at++;
        unsigned code = first >> 3 & 15;
        int64_t line;

        if (!(first & FIRST))
            continue; // the rest of an entry
        line = reader->line + line_step(reader, code);
        // A line that no file has: damaged; go on with the rest.
        if (line >= 0 && line <= INT32_MAX)
            reader->line = line;
        reader->behind += (first & 7) + 1;
        reader->none = code == ENTRY_NONE;
    }
    return reader->none || reader->behind <= unit ? 0 : (uint32_t)reader->line;
}

void Lines_decode(uint32_t *lines, size_t unit_count, const uint8_t *table,
                  size_t size, uint32_t first_line)
{
    struct LineReader reader;
    size_t unit;

    LineReader_init(&reader, table, size, first_line);
    for (unit = 0; unit < unit_count; unit++)
        lines[unit] = LineReader_line(&reader, unit);
}
