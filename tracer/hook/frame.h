// SPDX-License-Identifier: MIT
// An entry of a shadow stack: one open call. Written with the counting lock, by
// the thread that counts the hits of the thread that runs the call.
#ifndef OCULAR_TRACER_HOOK_FRAME_H
#define OCULAR_TRACER_HOOK_FRAME_H

#include <stdint.h>

struct Code;

#define FRAME_PARTIAL (-1) // seen only from its middle: no call statistics

// One cache line; an enter fills it in a few wide stores.
struct Frame {
    uintptr_t address; // of its code object; 0 once that is gone
    struct Code *code; // NULL likewise
    int64_t enter;     // net clock
    int64_t self;      // net cycles so far
    int64_t block;     // self where the running block began
    int64_t waited;    // cycles of spans in which another thread ran, or
                       // FRAME_PARTIAL
    uint32_t id;
    uint32_t depth;
    uint32_t instructions; // in the blocks that ended so far; wraps
    uint16_t start;        // number of the running block's first instruction;
                           // in precise mode a block is one instruction
    uint16_t epoch;        // of its code when it was entered
};

#endif
