// SPDX-License-Identifier: MIT
// Writes texts about an instruction's operand and about its specialisation for
// the annotate view. The functions are pure, and any thread may call them.
#pragma once

#include "tui/model/annotation.h"
#include "tui/screen/canvas.h"

#include <stddef.h>

struct AnnotateState;

// The annotate view does not show shares of a function's time below
// INSTRUCTION_LEAST_SHARE.
#define INSTRUCTION_LEAST_SHARE 0.005
// Length of the longest fixed text of InstructionText_short.
#define INSTRUCTION_SHORT 9

// Writes an instruction's operand as text, as a label or as a number. If the
// instruction is a call, also writes the callee.
void InstructionText_operand(char *out, size_t size,
                             const struct AnnotateState *state,
                             const struct ListingRow *row);
// Writes why an instruction has no specialised form. There are three reasons:
// it was deoptimised, it never ran, or CPython never specialised it. If CPython
// never specialised the instruction, also writes how often it ran, if this is
// known.
void InstructionText_never(char *out, size_t size,
                           const struct ListingRow *row);
// Writes a short text about the specialisation, for narrow screens. The short
// text is the part of the specialised opcode's name that the base opcode does
// not have, or a fixed word that the help explains. Returns the style in which
// the text is drawn.
enum Style InstructionText_short(char *out, size_t size,
                                 const struct ListingRow *row);
