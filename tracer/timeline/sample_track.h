// SPDX-License-Identifier: MIT
// Stores the samples and the waits of all threads in the timeline's track (row)
// of Ocular's own threads. A sample or a wait is stored as the events of the
// stack's frames, and then the event of the sample or the wait itself. Of a
// stack, only those frames are stored that differ from the last stack,
// outermost first. The first stack and each SAMPLE_TRACK_WHOLE-th stack is
// stored with all frames, because earlier stacks can be forgotten. Only one
// thread at a time may use a struct SampleTrack.
#pragma once

#include "ipc/wait_kind.h"
#include "tracer/timeline/timeline.h"

#include <stdbool.h>

// Largest number of stored frames of a stack, which is more than the sampler
// reads.
#define SAMPLE_TRACK_DEPTH 320
// One in this number of stacks is stored with all frames.
#define SAMPLE_TRACK_WHOLE 256

struct SampleTrack {
    // Number of samples since the newest sample with all frames.
    unsigned since;
    size_t depth;
    uint32_t path[SAMPLE_TRACK_DEPTH]; // Ids of the functions, outermost first.
};

// Largest number of waits of a thread at one time.
#define SAMPLE_TRACK_WAITS 4

// Time for which a thread was off the CPU, with its reason.
struct TimelineWait {
    double ns; // At most 131 s are stored.
    enum WaitKind kind;
    // True if the time is waiting time, of the kind that the flame graph shows.
    bool timed;
    // True if the time is a weight. The waiting time of a function is divided
    // in proportion to the weights of the kinds. The weight of one observation
    // can also represent other observations (gil_watch.c).
    bool weighs;
};

struct TimelineSample {
    uint64_t ticks;
    pid_t tid;
    bool in_c; // True if the innermost function has called a C function.
    // ns of CPU time of the sample, of which at most 4 s are stored.
    double cpu_ns;
    // Event_step for the instruction of the innermost function, or 0 if
    // unknown.
    uint64_t at;
    const uint32_t *path;
    size_t depth;
    // The wait, if this is no sample of a running thread. In a sample of a
    // running thread, the wait's time is 0.
    struct TimelineWait wait;
};

static inline bool SampleTrack_is_wait(const struct TimelineSample *sample)
{
    return sample->wait.timed || sample->wait.weighs;
}

// The sample is not recorded if memory is out.
void SampleTrack_add(struct SampleTrack *samples, struct Timeline *timeline,
                     const struct TimelineSample *sample);
// Stores waits of one thread, all with the stack of `sample`. Waits that are
// shorter than half of a ms are left out.
void SampleTrack_add_waits(struct SampleTrack *samples,
                           struct Timeline *timeline,
                           const struct TimelineSample *sample,
                           const struct TimelineWait *waits, size_t count);

// Reads samples from the events of the track. The caller passes the events in
// their order to SampleReader_take. SampleReader_take returns true if the event
// completes a sample or a wait. The path in struct SampleReader is valid until
// the next call of SampleReader_take.
struct SampleReader {
    bool whole; // True after the first sample that has all frames.
    // Event_step for the instruction of the next sample, or 0 if unknown.
    uint64_t at;
    uint32_t path[SAMPLE_TRACK_DEPTH];
};
bool SampleReader_take(struct SampleReader *reader, const struct Event *event,
                       struct TimelineSample *sample);
