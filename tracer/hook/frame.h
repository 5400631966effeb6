// SPDX-License-Identifier: MIT
// An entry of a shadow stack stands for one open call. The thread that counts
// the call's hits writes the entry and holds the counting lock.
#ifndef OCULAR_TRACER_HOOK_FRAME_H
#define OCULAR_TRACER_HOOK_FRAME_H

#include <stdint.h>

struct Code;

// Value of `waited` if the call's beginning was not seen. Such a call is not
// counted in the statistics.
#define FRAME_PARTIAL (-1)

struct Frame {
    // Address of the code object; 0 after the code object was freed.
    uintptr_t address;
    struct Code *code; // NULL after the code object was freed
    int64_t enter;     // net clock at the call's beginning
    // ticks at the call's beginning; 0: the frame resumes a call, or the
    // beginning was not seen
    uint64_t begin;
    int64_t self;  // net ticks so far
    int64_t block; // `self` at the beginning of the running block
    // ticks between events in which another thread ran, or FRAME_PARTIAL
    int64_t waited;
    uint32_t id;
    uint32_t depth;
    // Number of instructions in blocks that have ended; wraps.
    uint32_t instructions;
    // The number of the first instruction of the block that runs now. In
    // precise mode a block is one instruction.
    uint16_t start;
    uint16_t epoch; // epoch of the code at the call's beginning
};

#endif
