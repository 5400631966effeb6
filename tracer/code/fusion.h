// SPDX-License-Identifier: MIT
// Superinstructions. CPython 3.12 writes them over pairs of plain instructions
// when a code object is made (Python/specialize.c, _PyCode_Quicken), and takes
// them all back, for good, whenever something in it is instrumented: code that
// is dark again would stay slower than untraced. Here they are put back. From
// 3.13 on its compiler makes them, and nothing is to be done.
#ifndef OCULAR_TRACER_CODE_FUSION_H
#define OCULAR_TRACER_CODE_FUSION_H

#include <stddef.h>
#include <stdint.h>

#define FUSION_PARTS                                                           \
    4 // kinds of plain instructions that are fused, and 0: none

// Of the running interpreter; all zero: it needs none. Read-only once filled.
struct Fusion {
    uint8_t length[256]; // units with caches; 0: unknown, or hides another
    uint8_t part[256];   // of a fused one, its first
    uint8_t plain[FUSION_PARTS];
    uint8_t both[FUSION_PARTS][FUSION_PARTS];
};

// Writes superinstructions over plain pairs of live bytecode, and stops at an
// instruction whose length is unknown. Returns their number. The interpreter's
// lock is held.
size_t Fusion_restore(const struct Fusion *fusion, uint8_t *bytecode,
                      size_t units);

#endif
