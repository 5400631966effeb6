// SPDX-License-Identifier: MIT
// Reads the operand text that viewers have asked for, a few operands in each
// hold. Delivers the operand text when it is complete. The
// governor's thread calls these functions.
#pragma once

#include "tracer/session/engine.h"

struct OperandWriter {
    // Owned text that is not complete yet, or NULL.
    struct OperandText *operands;
};

// Works until the clock reaches `deadline` (ticks). Returns true if work is
// left. The caller holds the GIL.
bool OperandWriter_write(struct OperandWriter *writer, struct Engine *engine,
                         uint64_t deadline);
void OperandWriter_release(struct OperandWriter *writer);
