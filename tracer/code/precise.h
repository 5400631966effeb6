// SPDX-License-Identifier: MIT
// Converts a code object to precise mode, in which each instruction gets a
// hook. The functions of precise.h are called by the thread that finds new
// code, before other threads see the code.
#pragma once

#include "tracer/code/code.h"

// Makes a struct Instruction for each instruction, and turns off the hooks of
// jumps and branches. Returns 0 or -ENOMEM.
int Code_make_precise(struct Code *code, const struct Opcodes *opcodes,
                      uint64_t threshold);
// Makes the timeline show each run of each instruction of the code.
void Code_show_instructions(struct Code *code);
