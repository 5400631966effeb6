// SPDX-License-Identifier: MIT
// Passes samples from a thread's signal handler to the sampler's thread. The
// ring has one writer, one reader, no lock and no allocation, so pushing is
// async-signal-safe. If the ring is full, the sample is lost, and the loss is
// counted.
#ifndef OCULAR_TRACER_SAMPLE_SAMPLE_RING_H
#define OCULAR_TRACER_SAMPLE_SAMPLE_RING_H

#include "tracer/base/counter.h"
#include "tracer/sample/walk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A frame takes two words. The ring holds the samples of half a second, at 250
// samples a second with 60 frames each. While a thread runs, the sampler's
// pauses are at most half a second long.
#define SAMPLE_RING_WORDS 16384u // number of words, a power of two

struct SampleHead {
    uint64_t cpu_ns; // ns of CPU time since the thread's last sample
    uint64_t ticks;  // result of Clock_read at the sample
    // The registry's newest id before the walk. The stack contains no code with
    // a newer id.
    uint32_t newest_id;
    uint32_t switches; // Gil_switches, if the thread had the GIL
    uint16_t depth;    // number of frames that follow this head
    uint8_t flags;     // a set of SAMPLE_ bits
};

enum {
    SAMPLE_TORN = 1,      // a frame of the stack could not be read
    SAMPLE_TRUNCATED = 2, // the stack is deeper than WALK_DEPTH
    SAMPLE_ACTIVE = 4,    // the thread held the GIL
    SAMPLE_OURS = 8,      // the thread ran our own code, which is a hook
    SAMPLE_UNREAD = 16,   // no frame could be read
    SAMPLE_HOLDS = 32,    // the thread had the traced interpreter's GIL
    SAMPLE_REQUESTED = 64 // another thread had requested this GIL
};

struct SampleRing {
    counter_t pushed; // number of words; only the writer changes this field
    counter_t popped; // number of words; only the reader changes this field
    counter_t lost;   // number of samples; only the writer changes this field
    uint64_t words[SAMPLE_RING_WORDS];
};

// The writer calls this function. If the ring is full, counts the sample as
// lost and returns false.
bool SampleRing_push(struct SampleRing *ring, const struct SampleHead *head,
                     const struct WalkFrame *frames);
// The reader calls this function. Returns false if there is no sample. `frames`
// has room for WALK_DEPTH frames.
bool SampleRing_pop(struct SampleRing *ring, struct SampleHead *head,
                    struct WalkFrame *frames);

#endif
