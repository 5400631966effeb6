// SPDX-License-Identifier: MIT
// Converts a code object to precise mode, in which each instruction is a site.
// The thread that adopts a code object calls the functions of precise.h before
// other threads see the code.
#pragma once

#include "tracer/code/code.h"

// Makes a site for each instruction, and removes the sites of jumps and
// branches. Returns 0 or -ENOMEM.
int Code_make_precise(struct Code *code, const struct Opcodes *opcodes,
                      uint64_t threshold);
// Makes the timeline show each run of each instruction of the code.
void Code_show_instructions(struct Code *code);
