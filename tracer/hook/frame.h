// SPDX-License-Identifier: MIT
// Each thread has a shadow stack, which is Ocular's copy of the thread's stack.
// A struct Frame is an entry of a shadow stack and stands for one open call.
// The thread that counts hits writes struct Frame while it holds the counting
// lock.
#pragma once

#include <stdint.h>

struct Code;

// Value of Frame.waited if no hook saw the beginning of the call. Calls whose
// beginning was not seen are not counted in the statistics.
#define FRAME_PARTIAL (-1)
// Value of Frame.waited if it is not known for how long the call waited. The
// mean of earlier calls is its self time.
#define FRAME_UNSURE (-2)

struct Frame {
    // Address of the code object, or 0 after the code object was freed.
    uintptr_t address;
    // Code of the function, or NULL after the code object was freed.
    struct Code *code;
    // The net clock (without the hooks' time) at the beginning of the call.
    int64_t enter;
    // Ticks at the beginning of the call, or 0 if the frame resumes a call or
    // no hook saw the beginning.
    uint64_t begin;
    int64_t self;  // Net ticks of the call so far, without callees.
    int64_t block; // `self` when the present block began.
    // Ticks between the call's events in which another thread had the GIL, or
    // FRAME_PARTIAL or FRAME_UNSURE.
    int64_t waited;
    uint32_t id;
    uint32_t depth;
    // Number of instructions in the blocks that have ended, modulo 2^32.
    uint32_t instructions;
    // Number of the first instruction in the present block of instructions. In
    // precise mode a block consists of one instruction.
    uint16_t start;
    uint16_t epoch; // Epoch of the code at the beginning of the call.
    // The code's epoch at the newest hit of a line or at the beginning of the
    // call, or another value if the time since then is unknown.
    uint16_t line_epoch;
    int64_t line; // Value of `self` when the time of lines was last counted.
};
