// SPDX-License-Identifier: MIT
// Reads the text of a code object's operands (names, variables and constants)
// for a viewer. The reader runs no Python code and leaves no exception set. The
// governor calls the reader with the GIL held.
#pragma once

#include "python/hooks/state.h"
#include "tracer/session/operand_text.h"

// Reads on from the operand at which the last call stopped, until the clock
// reaches `deadline` (ticks). Reads at least AT_LEAST operands. Returns 1 if
// all operands are read, 0 if some are left, or -ENOMEM.
int OperandReader_read(struct OperandText *operands, const PyCodeObject *code,
                       const struct Clock *clock, uint64_t deadline);
