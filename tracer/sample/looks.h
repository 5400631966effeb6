// SPDX-License-Identifier: MIT
// Looks at threads, for what they wait in, and for what they run where no timer
// tells: walks their stacks, and knows whether anything can be read at all. The
// sampler's thread; its cells may be read by anyone.
#ifndef OCULAR_TRACER_SAMPLE_LOOKS_H
#define OCULAR_TRACER_SAMPLE_LOOKS_H

#include "tracer/sample/sampling.h"

struct Looks {
    struct Sampling *sampling; // borrowed
    struct Walk walk;
    struct WalkCopies copies;
    size_t next;          // whose turn it is in the table
    uint64_t found;       // samples that looks were, in the newest step
    bool refused;         // the newest stack, as all would have been
    uint64_t readable_ns; // when that was not so
    cell_t untimed;       // threads that can have no timer
    cell_t denied;        // 1: nothing can be read, for some seconds
};

// 0, or -EINVAL for a layout that cannot be.
int Looks_init(struct Looks *looks, struct Sampling *sampling,
               const struct FrameLayout *layout);
// At the threads whose turn it is. Returns whether one ran, or may have.
bool Looks_at_all(struct Looks *looks, const struct ShareTime *now);
// After a look: nothing can be read any more, or again.
void Looks_note_sight(struct Looks *looks, uint64_t now_ns);
// Nothing can be read for some seconds.
bool Looks_are_denied(const struct Looks *looks);
// Tries again. False: reads are still denied. Else all that is known of threads
// is of before.
bool Looks_recover(struct Looks *looks, uint64_t now_ns);

#endif
