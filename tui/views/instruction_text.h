// SPDX-License-Identifier: MIT
// What the annotate view says of an instruction in words: its argument, and
// what has become of it. Pure functions of the listing.
#ifndef OCULAR_TUI_VIEWS_INSTRUCTION_TEXT_H
#define OCULAR_TUI_VIEWS_INSTRUCTION_TEXT_H

#include "tui/model/annotation.h"
#include "tui/screen/canvas.h"

#include <stddef.h>

struct AnnotateState;

#define INSTRUCTION_LEAST_SHARE                                                \
    0.005                   // of the function's time: less is not told
#define INSTRUCTION_SHORT 9 // InstructionText_short's own are not longer

// The argument: in words, as a label, or as a number; and what a call calls.
void InstructionText_operand(char *out, size_t size,
                             const struct AnnotateState *state,
                             const struct ListingRow *row);
// How often it has run without ever being specialised, if that is known.
void InstructionText_never(char *out, size_t size,
                           const struct ListingRow *row);
// Where there is little room: what it has become, short of its base's name, or
// in a word that it has not (the help explains it). Its style.
enum Style InstructionText_short(char *out, size_t size,
                                 const struct ListingRow *row);

#endif
