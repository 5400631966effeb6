// SPDX-License-Identifier: MIT
// Writes the text that viewers show for the arguments of instructions, from
// code objects, a slice at a time. Owns the text that is being written. The
// governor's thread.
#ifndef OCULAR_PYTHON_SERVICE_OPERAND_WRITER_H
#define OCULAR_PYTHON_SERVICE_OPERAND_WRITER_H

#include "tracer/session/engine.h"
#include "tracer/session/session.h"

struct OperandWriter {
    struct OperandText *operands; // NULL between two functions
};

// Interpreter's lock held. true: there is more to do.
bool OperandWriter_write(struct OperandWriter *writer, struct Engine *engine,
                         uint64_t deadline);
void OperandWriter_release(struct OperandWriter *writer);

#endif
