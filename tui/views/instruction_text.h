// SPDX-License-Identifier: MIT
// The annotate view's texts about an instruction: its operand, and what it has
// become. Pure functions, any thread.
#ifndef OCULAR_TUI_VIEWS_INSTRUCTION_TEXT_H
#define OCULAR_TUI_VIEWS_INSTRUCTION_TEXT_H

#include "tui/model/annotation.h"
#include "tui/screen/canvas.h"

#include <stddef.h>

struct AnnotateState;

#define INSTRUCTION_LEAST_SHARE                                                \
    0.005 // of the function's time; smaller shares have no text
#define INSTRUCTION_SHORT 9 // InstructionText_short's own are not longer

// Writes the operand: in words, as a label, or as a number; and what a call
// calls.
void InstructionText_operand(char *out, size_t size,
                             const struct AnnotateState *state,
                             const struct ListingRow *row);
// Writes how often it has run without ever being specialised, if that is known.
void InstructionText_never(char *out, size_t size,
                           const struct ListingRow *row);
// For little room: writes what it has become, without its base's name, or a
// word of the help. Returns the style.
enum Style InstructionText_short(char *out, size_t size,
                                 const struct ListingRow *row);

#endif
