// SPDX-License-Identifier: MIT
// Keeps the sampled stacks as a tree. A node stands for a path of functions
// that begins with the outermost function. A node has the CPU time of the
// samples whose stack is this path. The node has one value for the window of
// the functions' shares (share.h), and one for the time since the start. If
// there is no memory for a new node, the smallest nodes are added to their
// callers. The sampler adds samples, and any other thread may read the tree.
#ifndef OCULAR_TRACER_SAMPLE_FLAME_H
#define OCULAR_TRACER_SAMPLE_FLAME_H

#include "ipc/flame_table.h"
#include "tracer/base/share.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define FLAME_NODES 32768 // 2 MB; two minutes of pylint make 30 000 nodes
#define FLAME_PLACES 2

struct FlameNode {
    // Id of a function; 0 for stacks whose outermost frames are missing.
    uint32_t id;
    // Index of the caller's node, which is less than the node's own index.
    uint32_t parent;
    struct ShareValue self; // CPU time of samples that end with this path
    // the part of `self` in a C function that was called
    struct ShareValue in_c;
};

struct Flame {
    pthread_mutex_t lock; // guards all fields below
    // nodes[0] is the root; NULL before the first sample
    struct FlameNode *nodes;
    // A hash table of nodes by parent and id. The table has FLAME_PLACES places
    // for each node of the allocated memory. 0 is a free place.
    uint32_t *places;
    size_t count;
    // Number of nodes that there is memory for, at most FLAME_NODES.
    size_t room;
    uint64_t samples;
};

// One sample with its stack and its weight.
struct FlameSample {
    const uint32_t *path; // ids of functions, the outermost function first
    size_t depth;
    bool in_c;
    double cpu_ns;
    // The innermost function's instruction; 0 if it is not known.
    uint32_t unit, line;
    uint8_t opcode; // base opcode of the instruction
};

void Flame_init(struct Flame *flame);
// No other thread may use the flame graph during the call.
void Flame_release(struct Flame *flame);
// A forked child calls this function. The function does not use the lock.
void Flame_abandon(struct Flame *flame);

void Flame_add(struct Flame *flame, const struct ShareTime *now,
               const struct FlameSample *sample);
// Returns the tree in at most `most` rows. The smallest nodes are added to
// their callers. The caller frees the table with FlameTable_free. Returns NULL
// if memory is out.
struct FlameTable *Flame_read(struct Flame *flame, const struct ShareTime *now,
                              size_t most);

// Lists the functions of the table's rows, and returns the array of these
// functions. The caller sets the functions' names. Returns NULL if memory is
// out.
struct FlameFunction *Flame_list(struct FlameTable *table);

#endif
