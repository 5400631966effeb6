// SPDX-License-Identifier: MIT
// Superinstructions. CPython 3.12 writes superinstructions over pairs of plain
// instructions when a code object is made (Python/specialize.c,
// _PyCode_Quicken). Whenever the code object is instrumented, CPython replaces
// all of them by plain instructions, for good. Code that is dark again would
// then stay slower than untraced code. So the superinstructions are written
// again here. From 3.13 on CPython's compiler makes superinstructions, and
// nothing has to be done.
#ifndef OCULAR_TRACER_CODE_FUSION_H
#define OCULAR_TRACER_CODE_FUSION_H

#include <stddef.h>
#include <stdint.h>

#define FUSION_PARTS                                                           \
    4 // kinds of plain instructions that can be fused, and 0 for all others

// Tables for the running interpreter, read-only after they are filled. All
// fields are zero if the interpreter needs no restored superinstructions.
struct Fusion {
    // units with caches; 0: unknown, or hides another opcode
    uint8_t length[256];
    uint8_t part[256]; // kind of a plain opcode, or of a fused one's first part
    uint8_t plain[FUSION_PARTS];
    uint8_t both[FUSION_PARTS][FUSION_PARTS];
};

// Writes superinstructions over plain pairs of live bytecode, and stops at an
// instruction of unknown length. Returns the number of superinstructions that
// were written. The caller holds the GIL.
size_t Fusion_restore(const struct Fusion *fusion, uint8_t *bytecode,
                      size_t units);

#endif
