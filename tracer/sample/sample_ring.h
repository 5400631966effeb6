// SPDX-License-Identifier: MIT
// Samples on their way from a thread's signal handler to the sampler's thread:
// one writer, one reader, no lock, no allocation, so that pushing is
// async-signal-safe. A sample that finds no room is lost and counted.
#ifndef OCULAR_TRACER_SAMPLE_SAMPLE_RING_H
#define OCULAR_TRACER_SAMPLE_SAMPLE_RING_H

#include "tracer/base/counter.h"
#include "tracer/sample/walk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Two words a frame: half a second of stacks 60 deep at 250 a second, which is
// the sampler's longest pause while anything runs.
#define SAMPLE_RING_WORDS 16384u // a power of two

struct SampleHead {
    uint64_t cpu_ns;    // CPU time of the thread since its sample before
    uint64_t ticks;     // Clock_read
    uint32_t newest_id; // the registry's: code adopted later is not on it
    uint16_t depth;     // frames that follow
    uint8_t flags;      // SAMPLE_...
};

enum {
    SAMPLE_TORN = 1,      // a frame could not be read
    SAMPLE_TRUNCATED = 2, // deeper than WALK_DEPTH
    SAMPLE_ACTIVE = 4,    // it had the interpreter
    SAMPLE_OURS = 8,      // the thread ran our own code: a hook
    SAMPLE_UNREAD = 16,   // nothing could be read at all
};

struct SampleRing {
    counter_t pushed; // words; the writer's
    counter_t popped; // words; the reader's
    counter_t lost;   // samples; the writer's
    uint64_t words[SAMPLE_RING_WORDS];
};

// The writer. false: no room, it is counted as lost.
bool SampleRing_push(struct SampleRing *ring, const struct SampleHead *head,
                     const struct WalkFrame *frames);
// The reader. false: there is none. `frames` has room for WALK_DEPTH.
bool SampleRing_pop(struct SampleRing *ring, struct SampleHead *head,
                    struct WalkFrame *frames);

#endif
