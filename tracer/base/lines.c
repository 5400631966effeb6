// SPDX-License-Identifier: MIT
// The location table is a sequence of entries, and each entry describes one to
// eight code units. Bit 7 is set in the first byte of an entry, and in no other
// byte. The other bits of an entry's first byte are a code (4 bits) and the
// number of code units minus 1 (3 bits). The decoder skips columns and end
// lines, and finds the next entry by bit 7.
#include "tracer/base/lines.h"

#define FIRST 0x80 // Bit 7, which is set in the first byte of an entry.
// Bit that is set in each byte of a number except the last.
#define CONTINUE 0x40

enum EntryCode {         // With codes 0 to 9 the line does not change.
    ENTRY_ONE_LINE = 10, // With codes 10 to 12 the line grows by code - 10.
    ENTRY_NO_COLUMNS = 13,
    ENTRY_LONG = 14,
    ENTRY_NONE = 15
};

// Reads a signed number, which has six bits in each byte, least significant
// bits first. The lowest bit of the number is its sign.
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
            // Skips bytes that do not begin an entry of the location table.
            continue;
        line = reader->line + line_step(reader, code);
        // If an entry gives an impossible line, the table is damaged, and the
        // line does not change.
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
