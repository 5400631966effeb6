// SPDX-License-Identifier: MIT
// Stores the samples of all threads in the track of our own threads. A sample
// is stored as the frames in which its stack differs from the last sample's
// stack, the outermost frame first, and then the sample. The first sample is
// stored with all its frames, and so is each SAMPLE_TRACK_WHOLE-th sample,
// because earlier samples may be forgotten. Only one thread at a time may use a
// SampleTrack.
#ifndef OCULAR_TRACER_TIMELINE_SAMPLE_TRACK_H
#define OCULAR_TRACER_TIMELINE_SAMPLE_TRACK_H

#include "tracer/timeline/timeline.h"

#include <stdbool.h>

// largest number of frames; the sampler reads fewer
#define SAMPLE_TRACK_DEPTH 320
// one of this many samples is stored with all frames
#define SAMPLE_TRACK_WHOLE 256

struct SampleTrack {
    unsigned since; // number of samples since the newest with all frames
    size_t depth;
    uint32_t path[SAMPLE_TRACK_DEPTH]; // functions, outermost first
};

struct TimelineSample {
    uint64_t ticks;
    pid_t tid;
    bool in_c;     // true if the innermost function has called a C function
    double cpu_ns; // CPU time of the sample; at most 4 s are stored
    uint64_t at;   // Event_step of the innermost function; 0 if unknown
    const uint32_t *path;
    size_t depth;
};

// If memory is out, the sample is not recorded.
void SampleTrack_add(struct SampleTrack *samples, struct Timeline *timeline,
                     const struct TimelineSample *sample);

// Reads samples. The caller passes each event in order. SampleReader_take
// returns true if the event ends a sample. The sample's path is valid until the
// next call.
struct SampleReader {
    bool whole;  // true after the first sample with all frames
    uint64_t at; // instruction of the next sample
    uint32_t path[SAMPLE_TRACK_DEPTH];
};
bool SampleReader_take(struct SampleReader *reader, const struct Event *event,
                       struct TimelineSample *sample);

#endif
