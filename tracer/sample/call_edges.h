// SPDX-License-Identifier: MIT
// struct CallEdges is a short queue of call edges, which are pairs of a caller
// and a callee that the sampler has found on stacks. The sampler's thread fills
// the queue. A thread that holds the GIL empties the queue and records the
// edges. If the queue is full, the sampler drops the edge, and will find it
// again in a later sample.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CALL_EDGES_ROOM 256u // Number of slots of the queue, a power of two.

struct CallEdge {
    uint32_t caller; // Id of the calling function.
    uint32_t callee;
};

struct CallEdges {
    // Numbers of edges that were put into the queue and taken out of it.
    _Atomic uint32_t pushed;
    _Atomic uint32_t popped;
    struct CallEdge ring[CALL_EDGES_ROOM];
};

// Adds a call edge to the queue. Returns false if the queue is full. Only the
// sampler's thread calls CallEdges_push.
bool CallEdges_push(struct CallEdges *edges, struct CallEdge edge);
// Takes the oldest call edge from the queue. Returns false if the queue is
// empty. Only one thread at a time may call CallEdges_pop.
bool CallEdges_pop(struct CallEdges *edges, struct CallEdge *edge);
