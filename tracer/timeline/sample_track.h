// SPDX-License-Identifier: MIT
// Stores the samples and the waits of all threads in the track of Ocular's own
// threads. A sample is stored as frames and then the sample itself, and a wait
// in the same way. The stored frames are those in which its stack differs from
// the last sample's stack, outermost first. The first sample and each
// SAMPLE_TRACK_WHOLE-th sample are stored with all their frames, because
// earlier samples can be forgotten. Only one thread at a time may use a struct
// SampleTrack.
#pragma once

#include "ipc/wait_kind.h"
#include "tracer/timeline/timeline.h"

#include <stdbool.h>

// Largest number of frames of a stack, more than the sampler reads.
#define SAMPLE_TRACK_DEPTH 320
// One sample in this number is stored with all frames.
#define SAMPLE_TRACK_WHOLE 256

struct SampleTrack {
    // Number of samples since the newest sample with all frames.
    unsigned since;
    size_t depth;
    uint32_t path[SAMPLE_TRACK_DEPTH]; // Ids of the functions, outermost first.
};

// Most waits that a thread has at one moment.
#define SAMPLE_TRACK_WAITS 4

// Time for which a thread was off the CPU, with its reason.
struct TimelineWait {
    double ns; // A number above 131 s is stored as 131 s.
    enum WaitKind kind;
    // True if the time is waiting time, of the kind that the flame graph shows.
    bool timed;
    // True if the time is a weight: the waiting time of a function is divided
    // in proportion to the weights of the kinds. A weight of one observation
    // can also stand for other observations (gil_watch.c).
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
    // The wait, if the sample is no sample of a running thread. A sample of a
    // running thread has no time here.
    struct TimelineWait wait;
};

static inline bool SampleTrack_is_wait(const struct TimelineSample *sample)
{
    return sample->wait.timed || sample->wait.weighs;
}

// If memory is out, the sample is not recorded.
void SampleTrack_add(struct SampleTrack *samples, struct Timeline *timeline,
                     const struct TimelineSample *sample);
// Stores waits of one thread, all with the stack of `sample`. Waits that are
// shorter than half of a ms are left out.
void SampleTrack_add_waits(struct SampleTrack *samples,
                           struct Timeline *timeline,
                           const struct TimelineSample *sample,
                           const struct TimelineWait *waits, size_t count);

// Reads samples from the events of the track. The caller passes the events to
// SampleReader_take in order. SampleReader_take returns true if the event
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
