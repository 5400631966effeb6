// SPDX-License-Identifier: MIT
// Scans the live bytecode of one code object and updates the code's
// specialisation history. The governor's thread calls Specialisation_scan while
// it holds the GIL.
#pragma once

#include "tracer/code/code.h"

// Reads the live bytecode (2 * unit_count bytes), counts specialised
// instructions and logs the changes. The caller of Specialisation_scan holds
// the log's mutex. Returns 0 or -ENOMEM.
int Specialisation_scan(struct Code *code, const uint8_t *live,
                        const struct Opcodes *opcodes, struct Transitions *log,
                        uint64_t ticks);
