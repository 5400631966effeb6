// SPDX-License-Identifier: MIT
// The sampled stacks as a tree. A node stands for a path of functions, the
// outermost first. A node holds the CPU time of the samples with this path, in
// the window of the functions' shares (share.h) and since the start. The number
// of nodes is bounded: if there is no room, the smallest nodes are added to
// their callers. The sampler adds samples, and any other thread reads.
#ifndef OCULAR_TRACER_SAMPLE_FLAME_H
#define OCULAR_TRACER_SAMPLE_FLAME_H

#include "ipc/flame_table.h"
#include "tracer/base/share.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define FLAME_NODES 32768 // 2 MB; two minutes of pylint have 30 000 nodes
#define FLAME_PLACES 2

struct FlameNode {
    uint32_t id;     // id of a function; 0: stacks cut off at the bottom
    uint32_t parent; // index of the caller's node, below the node's own index
    struct ShareValue self; // CPU time with this path on top
    struct ShareValue in_c; // part of `self`: in a C function that was called
};

struct Flame {
    pthread_mutex_t lock;    // guards all fields below
    struct FlameNode *nodes; // nodes[0] is the root; NULL: no sample yet
    // A hash of nodes by parent and id, with FLAME_PLACES places for each node
    // that there is room for. 0 is a free place.
    uint32_t *places;
    size_t count;
    size_t room; // nodes that there is memory for, at most FLAME_NODES
    uint64_t samples;
};

// One sample with its stack and its weight.
struct FlameSample {
    const uint32_t *path; // outermost first
    size_t depth;
    bool in_c;
    double cpu_ns;
    // The innermost function's instruction; 0: not known.
    uint32_t unit, line;
    uint8_t opcode; // base
};

void Flame_init(struct Flame *flame);
// no other thread may use the flame graph
void Flame_release(struct Flame *flame);
// in a forked child: does not touch the lock
void Flame_abandon(struct Flame *flame);

void Flame_add(struct Flame *flame, const struct ShareTime *now,
               const struct FlameSample *sample);
// Returns the tree in at most `most` rows, with the smallest nodes added to
// their callers. The caller frees the table with FlameTable_free. Returns NULL
// if memory is out.
struct FlameTable *Flame_read(struct Flame *flame, const struct ShareTime *now,
                              size_t most);

// Lists the functions of the table's rows and returns them. The functions'
// names are still to be set. Returns NULL if memory is out.
struct FlameFunction *Flame_list(struct FlameTable *table);

#endif
