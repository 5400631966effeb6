// SPDX-License-Identifier: MIT
// Who calls whom, as seen on the sampler's stacks, on its way to who may write
// it down: a short queue from the sampler's thread to whoever holds the
// interpreter's lock. What finds no room is lost, and seen again.
#ifndef OCULAR_TRACER_SAMPLE_EDGES_H
#define OCULAR_TRACER_SAMPLE_EDGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define EDGES_ROOM 256u // a power of two

struct Edge {
    uint32_t caller; // ids of functions
    uint32_t callee;
};

struct Edges {
    _Atomic uint32_t pushed; // counts; the difference is what is in it
    _Atomic uint32_t popped;
    struct Edge ring[EDGES_ROOM];
};

// The sampler's thread. false: there is no room.
bool Edges_push(struct Edges *edges, struct Edge edge);
// One other thread at a time. false: there is none.
bool Edges_pop(struct Edges *edges, struct Edge *edge);

#endif
