// SPDX-License-Identifier: MIT
// Reads the text of a code object's arguments (its names, variables and
// constants), for a viewer of its code. Runs no Python code and raises nothing.
// Interpreter's lock held; the governor.
#ifndef OCULAR_PYTHON_SERVICE_OPERAND_READER_H
#define OCULAR_PYTHON_SERVICE_OPERAND_READER_H

#include "python/hooks/state.h"
#include "tracer/session/operand_text.h"

// Goes on where it ended, until the deadline, but makes some way in any case. 1
// all is there, 0 not yet, -ENOMEM.
int OperandReader_read(struct OperandText *operands, const PyCodeObject *code,
                       const struct Clock *clock, uint64_t deadline);

#endif
