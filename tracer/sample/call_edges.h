// SPDX-License-Identifier: MIT
// Calls (caller, callee) that the sampler has seen on stacks: a short queue
// from the sampler's thread to the holder of the interpreter's lock, who may
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
    _Atomic uint32_t pushed; // counts; the difference is the number in the ring
    _Atomic uint32_t popped;
    struct CallEdge ring[CALL_EDGES_ROOM];
};

// The sampler's thread. false: there is no room.
bool CallEdges_push(struct CallEdges *edges, struct CallEdge edge);
// One other thread at a time. false: there is none.
bool CallEdges_pop(struct CallEdges *edges, struct CallEdge *edge);

#endif
