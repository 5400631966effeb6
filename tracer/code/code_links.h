// SPDX-License-Identifier: MIT
// Writer: links.c, for the holder of the counting lock: the thread that counts
// hits, or the governor for calls that samples have shown. These fields of
// struct Code say who calls whom. A thread that holds the GIL and has counted
// all hits may read the fields, too, because no hit comes meanwhile.
#ifndef OCULAR_TRACER_CODE_CODE_LINKS_H
#define OCULAR_TRACER_CODE_CODE_LINKS_H

#include <stdint.h>

struct CodeLinks {
    uint32_t *callers;     // ids of known callers; NULL: none
    uint32_t caller_count; // ids in `callers`
    uint32_t caller_room;  // ids that `callers` has room for
    // The ids of the newest 64 known callees; NULL: none.
    uint32_t *callees;
    uint32_t callee_count; // ids in `callees`
    uint32_t callee_room;  // ids that `callees` has room for
    // How many ids have replaced an older id since `callees` was full.
    uint32_t callee_next;
};

#endif
