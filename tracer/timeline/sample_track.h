// SPDX-License-Identifier: MIT
// The samples of all threads, in the track of our own threads: of each stack
// the frames that the one before has not, outermost first, and then the sample.
// The first sample has all its frames, and so has a later one now and then, so
// that the samples before it may be forgotten. One thread at a time.
#ifndef OCULAR_TRACER_TIMELINE_SAMPLE_TRACK_H
#define OCULAR_TRACER_TIMELINE_SAMPLE_TRACK_H

#include "tracer/timeline/timeline.h"

#include <stdbool.h>

#define SAMPLE_TRACK_DEPTH 320 // frames; the sampler reads fewer
#define SAMPLE_TRACK_WHOLE 256 // every so many samples one is whole

struct SampleTrack {
    unsigned since; // the newest whole one
    size_t depth;
    uint32_t path[SAMPLE_TRACK_DEPTH]; // functions, outermost first
};

struct TimelineSample {
    uint64_t ticks;
    pid_t tid;
    bool in_c;     // in a C function that the innermost has called
    double cpu_ns; // CPU time that it stands for; up to 4 s are kept
    uint64_t at;   // the innermost function's instruction, Event_step; 0: none
    const uint32_t *path;
    size_t depth;
};

// If memory is out, the sample is not recorded.
void SampleTrack_add(struct SampleTrack *samples, struct Timeline *timeline,
                     const struct TimelineSample *sample);

// Reads one: each event in turn. true: it ends a sample, whose path is valid
// until the next call.
struct SampleReader {
    bool whole;  // since the first whole one
    uint64_t at; // of the next sample
    uint32_t path[SAMPLE_TRACK_DEPTH];
};
bool SampleReader_take(struct SampleReader *reader, const struct Event *event,
                       struct TimelineSample *sample);

#endif
