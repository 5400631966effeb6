// SPDX-License-Identifier: MIT
// struct CodeLinks contains the function's known callers and callees, as a part
// of struct Code. Only links.c changes struct CodeLinks, and its caller holds
// the counting lock. links.c is called by the thread that counts hits, and by
// the governor, which adds calls that samples have shown. A thread that holds
// the GIL and has counted all hits may also read struct CodeLinks, because no
// hook runs while the thread holds the GIL.
#pragma once

#include <stdatomic.h>
#include <stdint.h>

struct CCalls;

struct CodeLinks {
    uint32_t *callers;     // Array of the ids of known callers, or NULL.
    uint32_t caller_count; // Number of ids in `callers`.
    uint32_t caller_room;  // Number of ids for which `callers` has room.
    // Array of the ids of the newest 64 known callees, or NULL.
    uint32_t *callees;
    uint16_t callee_count; // Number of ids in `callees`.
    uint16_t callee_room;  // Number of ids for which `callees` has room.
    // Number of times that a new id replaced an older id because `callees` was
    // full.
    uint32_t callee_next;
    // The C functions that the function calls, or NULL if none is known
    // (c_calls.h).
    struct CCalls *_Atomic c_calls;
};
