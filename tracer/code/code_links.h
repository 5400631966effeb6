// SPDX-License-Identifier: MIT
// Writer: links.c, for the thread that holds the counting lock: the thread that
// counts hits, and the governor for calls that samples have shown. The part of
// struct Code that says who calls whom. A thread that has the interpreter's
// lock and has counted all hits may read it, too: no hit comes meanwhile.
#ifndef OCULAR_TRACER_CODE_CODE_LINKS_H
#define OCULAR_TRACER_CODE_CODE_LINKS_H

#include <stdint.h>

struct CodeLinks {
    uint32_t *callers;     // ids of known callers; NULL: none
    uint32_t caller_count; // ids in it
    uint32_t caller_room;  // ids that there is memory for
    uint32_t *callees;     // ids of what it is known to call, the newest 64;
                           // NULL: none
    uint32_t callee_count; // ids in it
    uint32_t callee_room;  // ids that there is memory for
    uint32_t callee_next;  // ids that have taken an older one's place since
                           // the list was full
};

#endif
