// SPDX-License-Identifier: MIT
// Decodes CPython's location table (co_linetable, the format of 3.12 to 3.15
// described in its InternalDocs/code_objects.md) into a line per code unit.
// Pure; a damaged table gives missing lines, nothing worse.
#ifndef OCULAR_TRACER_LINES_H
#define OCULAR_TRACER_LINES_H

#include <stddef.h>
#include <stdint.h>

// Fills lines[0..unit_count) with line numbers, 0 where there is none.
void Lines_decode(uint32_t *lines, size_t unit_count, const uint8_t *table,
                  size_t size, uint32_t first_line);

#endif
