// SPDX-License-Identifier: MIT
// Writes the annotate view's texts about an instruction's operand and
// specialisation. The functions are pure, and any thread may call them.
#pragma once

#include "tui/model/annotation.h"
#include "tui/screen/canvas.h"

#include <stddef.h>

struct AnnotateState;

// The annotate view does not show smaller shares of a function's time.
#define INSTRUCTION_LEAST_SHARE 0.005
#define INSTRUCTION_SHORT 9 // Longest fixed text of InstructionText_short.

// Writes an instruction's operand as text, as a label or as a number. For a
// call instruction, also writes the callee.
void InstructionText_operand(char *out, size_t size,
                             const struct AnnotateState *state,
                             const struct ListingRow *row);
// Writes why an instruction has no specialised form. The reason is that it was
// deoptimised, that it never ran, or that CPython never specialised it. If
// CPython never specialised the instruction, also writes how often it ran, if
// this is known.
void InstructionText_never(char *out, size_t size,
                           const struct ListingRow *row);
// Writes a short text about specialisation for narrow screens. The text is the
// specialised opcode's name without the base opcode's name, or a fixed word
// that the help explains. Returns the style in which the text is drawn.
enum Style InstructionText_short(char *out, size_t size,
                                 const struct ListingRow *row);
