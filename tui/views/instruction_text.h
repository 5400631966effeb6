// SPDX-License-Identifier: MIT
// Writes the annotate view's texts about an instruction: the operand and the
// specialisation. The functions are pure, and any thread may call them.
#ifndef OCULAR_TUI_VIEWS_INSTRUCTION_TEXT_H
#define OCULAR_TUI_VIEWS_INSTRUCTION_TEXT_H

#include "tui/model/annotation.h"
#include "tui/screen/canvas.h"

#include <stddef.h>

struct AnnotateState;

#define INSTRUCTION_LEAST_SHARE                                                \
    0.005                   // least share of the function's time that is shown
#define INSTRUCTION_SHORT 9 // longest fixed text of InstructionText_short

// Writes the operand as words, as a label or as a number. For a call
// instruction, also writes the callee.
void InstructionText_operand(char *out, size_t size,
                             const struct AnnotateState *state,
                             const struct ListingRow *row);
// Writes that the instruction was never specialised. Also writes the number of
// times that the instruction ran, if this number is known.
void InstructionText_never(char *out, size_t size,
                           const struct ListingRow *row);
// Writes a short text for narrow screens: the specialised name without the base
// opcode's name, or a fixed word that the help explains. Returns the text's
// style.
enum Style InstructionText_short(char *out, size_t size,
                                 const struct ListingRow *row);

#endif
