// SPDX-License-Identifier: MIT
// struct Flame keeps the sampled stacks as a tree. A node stands for a path of
// functions that begins with the outermost function. The node has the CPU time
// of the samples whose stack is exactly this path, both for the newest seconds
// (share.h) and for the time since the start. If there is no memory for a new
// node, the smallest nodes are removed, and their time is added to their
// callers' nodes. Waits are leaves of the tree, with the waiting time that
// observations of threads have found. The sampler's thread adds samples and
// observations, and any thread may read the tree.
#pragma once

#include "ipc/flame_table.h"
#include "tracer/base/share.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

// Largest number of nodes of the tree, which take 2 MB. Tracing pylint for two
// minutes makes 30 000 nodes.
#define FLAME_NODES 32768
#define FLAME_PLACES 2

// Number of the root's waits. The root has one wait for each kind, and one for
// waits of an unknown kind.
#define FLAME_OWN_WAITS (WAIT_KINDS + 1)

struct FlameNode {
    // Id of a function, or 0 for stacks that lack their outermost frames. A
    // node for the waiting time of its caller has the id of a wait
    // (FlameWait_kind).
    uint32_t id;
    // Index of the caller's node, which is smaller than the index of this node.
    uint32_t parent;
    // CPU time of the samples whose stack ends with this node, or a wait's
    // waiting time.
    struct ShareValue self;
    // The part of `self` that was spent in C functions called by the function.
    struct ShareValue in_c;
};

struct Flame {
    pthread_mutex_t lock; // Guards all fields of struct Flame.
    // nodes[0] is the root of the tree. The next FLAME_OWN_WAITS nodes are the
    // root's waits, which get the waits of dropped nodes. `nodes` is NULL
    // before the first sample.
    struct FlameNode *nodes;
    // A hash table of the nodes by parent and id, with FLAME_PLACES places for
    // each node of the allocated memory. In the hash table, 0 is a free place.
    uint32_t *places;
    size_t count;
    // Number of nodes that the allocated memory can hold, at most FLAME_NODES.
    size_t room;
    uint64_t samples;
};

// One sample with its stack and its weight.
struct FlameSample {
    // Ids of the functions on the stack, the outermost first. If the thread
    // waits, the id of the wait comes last, and `cpu_ns` is the waiting time.
    const uint32_t *path;
    size_t depth;
    bool in_c;
    double cpu_ns;
    // Code unit and line of the innermost function's instruction, or 0 if
    // unknown.
    uint32_t unit, line;
    uint8_t opcode; // Base opcode of the innermost function's instruction.
};

void Flame_init(struct Flame *flame);
// Frees the tree's memory. No other thread may use the flame graph during the
// call.
void Flame_release(struct Flame *flame);
// Frees the tree's memory in a forked child, without using the lock.
void Flame_abandon(struct Flame *flame);

void Flame_add(struct Flame *flame, const struct ShareTime *now,
               const struct FlameSample *sample);
// Returns the tree as a table with at most `most` rows and waits. The times of
// smaller nodes are added to their callers' rows, and the times of smaller
// waits to the root's waits. Waiting time of an unknown kind is divided in
// proportion to the other waits of the same row. The caller frees the table
// with FlameTable_free. Returns NULL if there is no memory.
struct FlameTable *Flame_read(struct Flame *flame, const struct ShareTime *now,
                              size_t most);

// Flame_below calls a FlameVisit for each node at depth 3 below the node `id`
// of the first level, with the id of its parent, its own id, and its time since
// the start.
typedef void FlameVisit(void *context, uint32_t parent, uint32_t id,
                        uint64_t ns);
void Flame_below(struct Flame *flame, uint32_t id, FlameVisit *visit,
                 void *context);

// Lists the functions that the table's rows name, and returns the array of
// these functions. The caller then sets the names of the functions in the
// array. Returns NULL if there is no memory.
struct FlameFunction *Flame_list(struct FlameTable *table);
