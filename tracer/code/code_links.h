// SPDX-License-Identifier: MIT
// These fields of struct Code hold the function's callers and callees. Only a
// holder of the counting lock changes the fields, by links.c. This is the
// thread that counts hits, or the governor, which adds calls that samples have
// shown. A thread that holds the GIL and has counted all hits may also read the
// fields, because no hook runs while this thread holds the GIL.
#ifndef OCULAR_TRACER_CODE_CODE_LINKS_H
#define OCULAR_TRACER_CODE_CODE_LINKS_H

#include <stdint.h>

struct CodeLinks {
    uint32_t *callers;     // ids of known callers, or NULL
    uint32_t caller_count; // number of ids in `callers`
    uint32_t caller_room;  // number of ids for which `callers` has room
    // The ids of the newest 64 known callees, or NULL.
    uint32_t *callees;
    uint32_t callee_count; // number of ids in `callees`
    uint32_t callee_room;  // number of ids for which `callees` has room
    // Number of times that a new id has replaced an older id because `callees`
    // was full.
    uint32_t callee_next;
};

#endif
