// SPDX-License-Identifier: MIT
// Decodes CPython's location table (co_linetable, the format of 3.12 to 3.15
// described in its InternalDocs/code_objects.md) into a line per code unit.
// Pure; a damaged table gives missing lines, nothing worse.
#ifndef OCULAR_TRACER_BASE_LINES_H
#define OCULAR_TRACER_BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Reads a table once, from its beginning on.
struct LineReader {
    const uint8_t *at;
    const uint8_t *end;
    int64_t line;
    size_t behind; // unit behind the newest entry
    bool none;     // that entry has no line
};

void LineReader_init(struct LineReader *reader, const uint8_t *table,
                     size_t size, uint32_t first_line);
// The line of a unit, 0 if there is none. Never of an earlier unit than the
// last time.
uint32_t LineReader_line(struct LineReader *reader, size_t unit);
// Fills lines[0..unit_count) with line numbers, 0 if there is none.
void Lines_decode(uint32_t *lines, size_t unit_count, const uint8_t *table,
                  size_t size, uint32_t first_line);

#endif
