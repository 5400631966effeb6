// SPDX-License-Identifier: MIT
// CPython 3.12 writes superinstructions over pairs of plain instructions when a
// code object is made (Python/specialize.c, _PyCode_Quicken). Whenever the code
// object is instrumented, CPython permanently replaces all superinstructions by
// plain instructions. Without superinstructions, code that had hooks and has
// lost them would be slower than code that was never traced. Fusion_restore
// writes the superinstructions again. From 3.13 on CPython's compiler makes
// superinstructions, and Fusion_restore has nothing to do.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Number of kinds of plain instructions. Each instruction that can be a part of
// a superinstruction has a kind. Kind 0 stands for all other instructions.
#define FUSION_PARTS 4

// Tables for the running interpreter, which do not change after they are
// filled. All fields of struct Fusion are 0 if Fusion_restore has nothing to do
// on the running interpreter.
struct Fusion {
    // Length of an opcode's instruction in code units, including caches, or 0
    // if unknown, or if the opcode replaces another opcode in instrumented
    // code.
    uint8_t length[256];
    // The kind of a plain opcode. For a superinstruction, the kind of its first
    // instruction.
    uint8_t part[256];
    uint8_t plain[FUSION_PARTS];
    uint8_t both[FUSION_PARTS][FUSION_PARTS];
};

// Replaces pairs of plain instructions in live bytecode by superinstructions,
// and stops at an instruction of unknown length. Returns the number of
// superinstructions that Fusion_restore has written. The caller holds the GIL.
size_t Fusion_restore(const struct Fusion *fusion, uint8_t *bytecode,
                      size_t units);
