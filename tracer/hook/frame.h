// SPDX-License-Identifier: MIT
// A struct Frame is an entry of a shadow stack and stands for one open call.
// The thread that counts hits writes struct Frame while it holds the counting
// lock.
#pragma once

#include <stdint.h>

struct Code;

// Value of Frame.waited if the beginning of the call was not seen. A call whose
// beginning was not seen is not counted in the statistics.
#define FRAME_PARTIAL (-1)

struct Frame {
    // Address of the code object, or 0 after the code object was freed.
    uintptr_t address;
    // Code of the function, or NULL after the code object was freed.
    struct Code *code;
    int64_t enter; // Net clock at the beginning of the call.
    // Ticks at the beginning of the call, or 0 if the frame resumes a call or
    // the beginning was not seen.
    uint64_t begin;
    int64_t self;  // Net ticks of the call so far, without its callees.
    int64_t block; // `self` at the beginning of the present block.
    // Ticks between the call's events in which another thread ran, or
    // FRAME_PARTIAL.
    int64_t waited;
    uint32_t id;
    uint32_t depth;
    // Number of instructions in the blocks that have ended, modulo 2^32.
    uint32_t instructions;
    // The number of the first instruction in the present block. In precise mode
    // a block consists of one instruction.
    uint16_t start;
    uint16_t epoch; // Epoch of the code at the beginning of the call.
    // The code's epoch at the newest hit of a line or at the beginning, or
    // another value if the time since then is not known.
    uint16_t line_epoch;
    int64_t line; // `self` up to which the time of lines is counted.
};
