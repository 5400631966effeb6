// SPDX-License-Identifier: MIT
// struct SampleRing passes samples from a thread's signal handler to the
// sampler's thread. The ring has one writer and one reader. Pushing a sample
// needs no lock and no allocation, so it is async-signal-safe. If the ring is
// full, a new sample is lost and counted as lost.
#pragma once

#include "tracer/base/counter.h"
#include "tracer/sample/native_table.h"
#include "tracer/sample/walk.h"

#include <stdbool.h>
#include <stdint.h>

// Number of words of a ring, which is a power of two. In a ring, a frame takes
// two words. At 250 samples a second with 60 frames each, the ring holds the
// samples of half a second. The sampler empties the rings four times a second,
// or once a second if the program is nearly idle.
#define SAMPLE_RING_WORDS 16384u

struct SampleHead {
    uint64_t cpu_ns; // ns of CPU time since the thread's last sample.
    uint64_t ticks;  // Ticks at which the sample was taken.
    // Newest id of a struct Code before the stack was read. No code on the
    // stack has a newer id.
    uint32_t newest_id;
    uint32_t switches; // Value of Gil_switches, if the thread had the GIL.
    // Number of frames that follow the sample's head in the ring.
    uint16_t depth;
    uint8_t flags; // A set of SAMPLE_ bits.
    // Number of addresses in C functions that follow the frames in the ring,
    // and how the walk over these functions has ended (enum NativeEnd).
    uint8_t native_depth, native_end;
    struct WalkTag tag;
    struct WalkRoot roots[WALK_ROOTS];
};

enum {
    SAMPLE_TORN = 1,      // A frame of the stack could not be read.
    SAMPLE_TRUNCATED = 2, // The stack is deeper than WALK_DEPTH.
    SAMPLE_ACTIVE = 4,    // The thread held the GIL.
    SAMPLE_OURS = 8,      // The thread ran a hook of Ocular.
    SAMPLE_UNREAD = 16,   // No frame of the stack could be read.
    SAMPLE_HOLDS = 32,    // The thread held the GIL of the traced interpreter.
    // Another thread had requested the GIL of the traced interpreter.
    SAMPLE_REQUESTED = 64
};

struct SampleRing {
    // Number of words that were written into the ring. Only the writer changes
    // `pushed`.
    counter_t pushed;
    // Number of words that were read from the ring. Only the reader changes
    // `popped`.
    counter_t popped;
    counter_t lost; // Number of lost samples. Only the writer changes `lost`.
    uint64_t words[SAMPLE_RING_WORDS];
};

// Adds a sample to the ring. If the ring is full, counts the sample as lost and
// returns false. Only the writer calls SampleRing_push. `native` has
// `head->native_depth` addresses in C functions.
bool SampleRing_push(struct SampleRing *ring, const struct SampleHead *head,
                     const struct WalkFrame *frames, const uintptr_t *native);
// Takes the oldest sample from the ring. Returns false if the ring is empty.
// `frames` has room for WALK_DEPTH frames, and `native` for NATIVE_DEPTH
// addresses. Only the reader calls SampleRing_pop.
bool SampleRing_pop(struct SampleRing *ring, struct SampleHead *head,
                    struct WalkFrame *frames, uintptr_t *native);
