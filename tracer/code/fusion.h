// SPDX-License-Identifier: MIT
// Superinstructions. CPython 3.12 writes superinstructions over pairs of plain
// instructions when a code object is made (Python/specialize.c,
// _PyCode_Quicken). Whenever the code object is instrumented, CPython
// permanently replaces all superinstructions by plain instructions. So code
// that was armed and is dark again would be slower than untraced code. So
// Fusion_restore writes the superinstructions again. From 3.13 on CPython's
// compiler makes superinstructions, and nothing needs to be restored.
#ifndef OCULAR_TRACER_CODE_FUSION_H
#define OCULAR_TRACER_CODE_FUSION_H

#include <stddef.h>
#include <stdint.h>

// Number of kinds of plain instructions. Each instruction that can be fused has
// a kind, and kind 0 is for all other instructions.
#define FUSION_PARTS 4

// Tables for the running interpreter, which are read-only after they are
// filled. All fields are zero if the interpreter needs no restored
// superinstructions.
struct Fusion {
    // Length in code units including caches; 0 if unknown, or if the opcode
    // stands in the place of another opcode.
    uint8_t length[256];
    // Kind of a plain opcode. For a superinstruction, the kind of its first
    // part.
    uint8_t part[256];
    uint8_t plain[FUSION_PARTS];
    uint8_t both[FUSION_PARTS][FUSION_PARTS];
};

// Writes superinstructions over plain pairs of live bytecode, and stops at an
// instruction of unknown length. Returns the number of superinstructions that
// were written. The caller holds the GIL.
size_t Fusion_restore(const struct Fusion *fusion, uint8_t *bytecode,
                      size_t units);

#endif
