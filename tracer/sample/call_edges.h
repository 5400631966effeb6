// SPDX-License-Identifier: MIT
// Calls (caller, callee) that the sampler has seen on stacks. A short queue
// passes the calls from the sampler's thread to a holder of the GIL, who may
// record them. An edge that finds no room is lost, and will be seen again.
#ifndef OCULAR_TRACER_SAMPLE_CALL_EDGES_H
#define OCULAR_TRACER_SAMPLE_CALL_EDGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CALL_EDGES_ROOM 256u // a power of two

struct CallEdge {
    uint32_t caller; // ids of functions
    uint32_t callee;
};

struct CallEdges {
    _Atomic uint32_t pushed; // pushed - popped edges are in the ring
    _Atomic uint32_t popped;
    struct CallEdge ring[CALL_EDGES_ROOM];
};

// Called by the sampler's thread. Returns false if there is no room.
bool CallEdges_push(struct CallEdges *edges, struct CallEdge edge);
// Called by one other thread at a time. Returns false if there is no edge.
bool CallEdges_pop(struct CallEdges *edges, struct CallEdge *edge);

#endif
