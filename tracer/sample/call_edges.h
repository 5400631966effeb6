// SPDX-License-Identifier: MIT
// Keeps call edges (caller, callee) that the sampler has seen on stacks. A
// short queue passes the call edges from the sampler's thread to a thread that
// holds the GIL and may record the call edges. If the queue is full, a call
// edge is lost, but the sampler will see the call edge again.
#ifndef OCULAR_TRACER_SAMPLE_CALL_EDGES_H
#define OCULAR_TRACER_SAMPLE_CALL_EDGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CALL_EDGES_ROOM 256u // number of slots, a power of two

struct CallEdge {
    uint32_t caller; // ids of functions
    uint32_t callee;
};

struct CallEdges {
    _Atomic uint32_t pushed; // the ring has `pushed` minus `popped` edges
    _Atomic uint32_t popped;
    struct CallEdge ring[CALL_EDGES_ROOM];
};

// The sampler's thread calls this function. Returns false if the queue is full.
bool CallEdges_push(struct CallEdges *edges, struct CallEdge edge);
// One other thread at a time calls this function. Returns false if the queue is
// empty.
bool CallEdges_pop(struct CallEdges *edges, struct CallEdge *edge);

#endif
