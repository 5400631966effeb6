// SPDX-License-Identifier: MIT
// Decodes CPython's location table (co_linetable) into one line number for each
// code unit. CPython's InternalDocs/code_objects.md describes the format of
// 3.12 to 3.15. All functions are pure. If a table is damaged, lines are
// missing or wrong, but nothing else happens.
#ifndef OCULAR_TRACER_BASE_LINES_H
#define OCULAR_TRACER_BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Reads a location table once, from the beginning to the end.
struct LineReader {
    const uint8_t *at;
    const uint8_t *end;
    int64_t line;
    size_t behind; // first code unit after the newest entry
    bool none;     // true if the newest entry has no line
};

void LineReader_init(struct LineReader *reader, const uint8_t *table,
                     size_t size, uint32_t first_line);
// Returns the line of a code unit, or 0 if the unit has no line. `unit` must
// not be less than in the previous call.
uint32_t LineReader_line(struct LineReader *reader, size_t unit);
// Fills lines[0..unit_count) with line numbers. A unit without a line has 0.
void Lines_decode(uint32_t *lines, size_t unit_count, const uint8_t *table,
                  size_t size, uint32_t first_line);

#endif
