// SPDX-License-Identifier: MIT
// An entry of a shadow stack stands for one open call. The thread that counts
// the call's hits writes the entry with the counting lock.
#ifndef OCULAR_TRACER_HOOK_FRAME_H
#define OCULAR_TRACER_HOOK_FRAME_H

#include <stdint.h>

struct Code;

#define FRAME_PARTIAL (-1) // the call's begin was not seen: no statistics

// A frame is one cache line. The begin of a call writes the frame in a few wide
// stores.
struct Frame {
    uintptr_t address; // of the code object; 0 after it was freed
    struct Code *code; // NULL after the code object was freed
    int64_t enter;     // net clock: time of the call's begin
    int64_t self;      // net cycles so far
    int64_t block;     // `self` at the begin of the running block
    int64_t waited;    // cycles of spans in which another thread ran, or
                       // FRAME_PARTIAL
    uint32_t id;
    uint32_t depth;
    uint32_t instructions; // instructions in blocks that have ended; wraps
    // The number of the running block's first instruction. In precise mode a
    // block is one instruction.
    uint16_t start;
    uint16_t epoch; // epoch of the code at the call's begin
};

#endif
