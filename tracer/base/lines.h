// SPDX-License-Identifier: MIT
// Decodes CPython's location table (co_linetable) into one line number for each
// code unit. CPython's InternalDocs/code_objects.md describes the format of
// location tables in 3.12 to 3.15. The functions in this file use only their
// arguments, and keep no state between two calls. If a location table is
// damaged, lines are missing or wrong, but nothing else happens.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Reads a location table once, from the beginning to the end.
struct LineReader {
    const uint8_t *at;
    const uint8_t *end;
    int64_t line;
    // Number of the first code unit after the entry that was read last.
    size_t behind;
    bool none; // True if the entry that was read last has no line.
};

void LineReader_init(struct LineReader *reader, const uint8_t *table,
                     size_t size, uint32_t first_line);
// Returns the line of the code unit `unit`, or 0 if the unit has no line.
// `unit` must not be less than in the previous call for this reader.
uint32_t LineReader_line(struct LineReader *reader, size_t unit);
// Stores the line number of each code unit in lines[0..unit_count). The line
// number of a code unit without a line is 0.
void Lines_decode(uint32_t *lines, size_t unit_count, const uint8_t *table,
                  size_t size, uint32_t first_line);
