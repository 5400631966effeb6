// SPDX-License-Identifier: MIT
// Reads the operand text that viewers have asked for from code objects, a
// little in each hold, and delivers it. The governor's thread calls these
// functions.
#ifndef OCULAR_PYTHON_SERVICE_OPERAND_WRITER_H
#define OCULAR_PYTHON_SERVICE_OPERAND_WRITER_H

#include "tracer/session/engine.h"
#include "tracer/session/session.h"

struct OperandWriter {
    struct OperandText *operands; // owned text in progress; NULL: none
};

// Works until the clock reaches `deadline` (ticks). Returns true if work is
// left. The caller holds the GIL.
bool OperandWriter_write(struct OperandWriter *writer, struct Engine *engine,
                         uint64_t deadline);
void OperandWriter_release(struct OperandWriter *writer);

#endif
