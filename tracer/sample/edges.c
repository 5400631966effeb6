// SPDX-License-Identifier: MIT
// A ring with one writer and one reader.
#include "tracer/sample/edges.h"

bool Edges_push(struct Edges *edges, struct Edge edge)
{
    uint32_t pushed =
        atomic_load_explicit(&edges->pushed, memory_order_relaxed);
    // Pairs with the release in Edges_pop: its slot has been read.
    uint32_t popped =
        atomic_load_explicit(&edges->popped, memory_order_acquire);

    if (pushed - popped == EDGES_ROOM)
        return false;
    edges->ring[pushed % EDGES_ROOM] = edge;
    // Pairs with the acquire in Edges_pop.
    atomic_store_explicit(&edges->pushed, pushed + 1, memory_order_release);
    return true;
}

bool Edges_pop(struct Edges *edges, struct Edge *edge)
{
    uint32_t popped =
        atomic_load_explicit(&edges->popped, memory_order_relaxed);
    // Pairs with the release in Edges_push.
    uint32_t pushed =
        atomic_load_explicit(&edges->pushed, memory_order_acquire);

    if (pushed == popped)
        return false;
    *edge = edges->ring[popped % EDGES_ROOM];
    // Pairs with the acquire in Edges_push.
    atomic_store_explicit(&edges->popped, popped + 1, memory_order_release);
    return true;
}
