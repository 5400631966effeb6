// SPDX-License-Identifier: MIT
#include "tracer/sample/call_edges.h"

bool CallEdges_push(struct CallEdges *edges, struct CallEdge edge)
{
    uint32_t pushed =
        atomic_load_explicit(&edges->pushed, memory_order_relaxed);
    // This load pairs with the release store in CallEdges_pop. CallEdges_pop
    // has read the slot before.
    uint32_t popped =
        atomic_load_explicit(&edges->popped, memory_order_acquire);

    if (pushed - popped == CALL_EDGES_ROOM)
        return false;
    edges->ring[pushed % CALL_EDGES_ROOM] = edge;
    // This store pairs with the acquire in CallEdges_pop.
    atomic_store_explicit(&edges->pushed, pushed + 1, memory_order_release);
    return true;
}

bool CallEdges_pop(struct CallEdges *edges, struct CallEdge *edge)
{
    uint32_t popped =
        atomic_load_explicit(&edges->popped, memory_order_relaxed);
    // This load pairs with the release in CallEdges_push.
    uint32_t pushed =
        atomic_load_explicit(&edges->pushed, memory_order_acquire);

    if (pushed == popped)
        return false;
    *edge = edges->ring[popped % CALL_EDGES_ROOM];
    // This store pairs with the acquire in CallEdges_push.
    atomic_store_explicit(&edges->popped, popped + 1, memory_order_release);
    return true;
}
