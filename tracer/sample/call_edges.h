// SPDX-License-Identifier: MIT
// Keeps call edges (caller, callee) that the sampler has seen on stacks. A
// short queue passes the call edges from the sampler's thread to a holder of
// the GIL, who may record them. If the queue has no room, a call edge is lost,
// and the sampler will see it again.
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

// The sampler's thread calls this function. Returns false if there is no room.
bool CallEdges_push(struct CallEdges *edges, struct CallEdge edge);
// One other thread at a time calls this function. Returns false if there is no
// edge.
bool CallEdges_pop(struct CallEdges *edges, struct CallEdge *edge);

#endif
