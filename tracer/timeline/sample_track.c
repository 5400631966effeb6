// SPDX-License-Identifier: MIT
#include "tracer/timeline/sample_track.h"

static struct Event frame_event(uint64_t ticks, size_t depth, uint32_t id)
{
    return (struct Event){Event_when(ticks, EVENT_FRAME),
                          (uint64_t)depth << 32 | id};
}

// The bits above the depth have the microseconds, and the last bit is in_c.
#define DEPTH_BITS 9
#define MOST_US ((UINT64_C(1) << 22) - 1)

static struct Event sample_event(const struct TimelineSample *sample,
                                 size_t depth)
{
    double us = sample->cpu_ns / 1e3;
    uint64_t weight = us < (double)MOST_US ? (uint64_t)us : MOST_US;

    return (struct Event){Event_when(sample->ticks, EVENT_SAMPLE),
                          (uint64_t)sample->in_c << 63 |
                              weight << (32 + DEPTH_BITS) |
                              (uint64_t)depth << 32 | (uint32_t)sample->tid};
}

void SampleTrack_add(struct SampleTrack *samples, struct Timeline *timeline,
                     const struct TimelineSample *sample)
{
    struct Event events[SAMPLE_TRACK_DEPTH + 2];
    size_t depth =
        sample->depth < SAMPLE_TRACK_DEPTH ? sample->depth : SAMPLE_TRACK_DEPTH;
    size_t i = 0, count = 0;

    if (samples->since++ % SAMPLE_TRACK_WHOLE)
        while (i < depth && i < samples->depth &&
               samples->path[i] == sample->path[i])
            i++;
    for (; i < depth; i++) {
        samples->path[i] = sample->path[i];
        events[count++] = frame_event(sample->ticks, i, sample->path[i]);
    }
    if (sample->at)
        events[count++] =
            (struct Event){Event_when(sample->ticks, EVENT_AT), sample->at};
    events[count++] = sample_event(sample, depth);
    samples->depth = depth;
    // After an error a reader lacks frames, so the next sample is stored with
    // all frames.
    if (Timeline_add(timeline, events, count))
        samples->since = 0;
}

bool SampleReader_take(struct SampleReader *reader, const struct Event *event,
                       struct TimelineSample *sample)
{
    size_t depth = (size_t)(event->what >> 32 & ((1u << DEPTH_BITS) - 1));

    if (Event_kind(event) == EVENT_FRAME && depth < SAMPLE_TRACK_DEPTH) {
        reader->whole |= depth == 0;
        reader->path[depth] = Event_id(event);
    }
    if (Event_kind(event) == EVENT_AT)
        reader->at = event->what;
    if (Event_kind(event) != EVENT_SAMPLE || depth > SAMPLE_TRACK_DEPTH ||
        (!reader->whole && depth))
        return false;
    *sample = (struct TimelineSample){
        .ticks = Event_ticks(event),
        .tid = (pid_t)(uint32_t)event->what,
        .in_c = event->what >> 63,
        .cpu_ns = 1e3 * (double)(event->what >> (32 + DEPTH_BITS) & MOST_US),
        .at = reader->at,
        .path = reader->path,
        .depth = depth};
    reader->at = 0;
    return true;
}
