// SPDX-License-Identifier: MIT
// The sampled stacks as a tree: a node is a path of functions, outermost first,
// and holds the CPU time of samples with that path, windowed as the
// functions' shares are (share.h), and since the start. Bounded: where there is
// no room the smallest are summed up in their callers. The sampler adds, any
// other thread asks.
#ifndef OCULAR_TRACER_SAMPLE_FLAME_H
#define OCULAR_TRACER_SAMPLE_FLAME_H

#include "ipc/flame_table.h"
#include "tracer/base/share.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define FLAME_NODES 32768 // two minutes of pylint have 30 000; 2 MB
#define FLAME_PLACES 2

struct FlameNode {
    uint32_t id;            // a function's; 0: stacks that were cut off below
    uint32_t parent;        // a smaller number than its own
    struct ShareValue self; // running, with this path on top
    struct ShareValue in_c; // of that, in a C function that it had called
};

struct Flame {
    pthread_mutex_t lock;    // guards all below
    struct FlameNode *nodes; // 0 is the root; NULL: there was no sample yet
    uint32_t *places; // nodes by parent and id, FLAME_PLACES of them for each
                      // that there is room for; 0: free
    size_t count;
    size_t room; // for so many, FLAME_NODES at most
    uint64_t samples;
};

// One sample: its stack, and its weight.
struct FlameSample {
    const uint32_t *path; // outermost first
    size_t depth;
    bool in_c;
    double cpu_ns;
};

void Flame_init(struct Flame *flame);
void Flame_release(struct Flame *flame); // no other thread uses it
void Flame_abandon(struct Flame *flame); // in a forked child: not the lock

void Flame_add(struct Flame *flame, const struct ShareTime *now,
               const struct FlameSample *sample);
// The tree as it is now, in at most so many rows: the smallest are summed up in
// their callers. The caller's, with FlameTable_free; NULL when memory is out.
struct FlameTable *Flame_read(struct Flame *flame, const struct ShareTime *now,
                              size_t most);

// Says which functions the table's rows are of, and returns these, whose names
// are still to be set. NULL: memory is out.
struct FlameFunction *Flame_list(struct FlameTable *table);

#endif
