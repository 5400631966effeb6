// SPDX-License-Identifier: MIT
// Makes a code object one of precise mode's, where each instruction is a site
// of its own. Called by the thread that adopts code, before anybody else sees
// it.
#ifndef OCULAR_TRACER_CODE_PRECISE_H
#define OCULAR_TRACER_CODE_PRECISE_H

#include "tracer/code/code.h"

// Lays out a site for each instruction, in place of the jumps' and branches'. 0
// or -ENOMEM.
int Code_make_precise(struct Code *code, const struct Opcodes *opcodes,
                      uint64_t threshold);
// The timeline is to have each of them, each time that it runs.
void Code_show_instructions(struct Code *code);

#endif
