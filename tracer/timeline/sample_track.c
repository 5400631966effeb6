// SPDX-License-Identifier: MIT
#include "tracer/timeline/sample_track.h"

static struct Event frame_event(uint64_t ticks, size_t depth, uint32_t id)
{
    return (struct Event){Event_when(ticks, EVENT_FRAME),
                          (uint64_t)depth << 32 | id};
}

// In EVENT_SAMPLE, the bits above the depth are the microseconds, and the last
// bit is `in_c`.
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

// In EVENT_OFF_CPU, the bits above the depth are the kind, the two flags of
// struct TimelineWait, and the ms.
#define KIND_AT (32 + DEPTH_BITS)
#define KIND_MASK 15u
#define TIMED_AT (KIND_AT + 4)
#define WEIGHS_AT (TIMED_AT + 1)
#define MS_AT (WEIGHS_AT + 1)
#define MOST_MS ((UINT64_C(1) << (64 - MS_AT)) - 1)

_Static_assert(WAIT_UNKNOWN <= KIND_MASK, "each kind of wait can be stored");

static struct Event wait_event(const struct TimelineSample *sample,
                               const struct TimelineWait *wait, size_t depth)
{
    double ms = wait->ns / 1e6 + 0.5;
    uint64_t whole = ms < (double)MOST_MS ? (uint64_t)ms : MOST_MS;

    return (struct Event){Event_when(sample->ticks, EVENT_OFF_CPU),
                          whole << MS_AT | (uint64_t)wait->weighs << WEIGHS_AT |
                              (uint64_t)wait->timed << TIMED_AT |
                              (uint64_t)wait->kind << KIND_AT |
                              (uint64_t)depth << 32 | (uint32_t)sample->tid};
}

static struct TimelineWait wait_of(uint64_t what)
{
    return (struct TimelineWait){
        .ns = 1e6 * (double)(what >> MS_AT),
        .kind = (enum WaitKind)(what >> KIND_AT & KIND_MASK),
        .timed = what >> TIMED_AT & 1,
        .weighs = what >> WEIGHS_AT & 1};
}

// Writes the frames of a stack to `events`, without those that are the same as
// in the last stack. Returns the number of frames written, and stores in *kept
// the number of frames of the whole stack, which is limited.
static size_t put_frames(struct SampleTrack *samples,
                         const struct TimelineSample *sample,
                         struct Event *events, size_t *kept)
{
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
    samples->depth = *kept = depth;
    return count;
}

// Adds the events of a stack. The next sample after an error is stored with all
// frames, because a reader lacks frames.
static void store(struct SampleTrack *samples, struct Timeline *timeline,
                  const struct Event *events, size_t count)
{
    if (Timeline_add(timeline, events, count))
        samples->since = 0;
}

void SampleTrack_add(struct SampleTrack *samples, struct Timeline *timeline,
                     const struct TimelineSample *sample)
{
    struct Event events[SAMPLE_TRACK_DEPTH + 2];
    size_t depth, count = put_frames(samples, sample, events, &depth);

    if (sample->at)
        events[count++] =
            (struct Event){Event_when(sample->ticks, EVENT_AT), sample->at};
    events[count++] = sample_event(sample, depth);
    store(samples, timeline, events, count);
}

void SampleTrack_add_waits(struct SampleTrack *samples,
                           struct Timeline *timeline,
                           const struct TimelineSample *sample,
                           const struct TimelineWait *waits, size_t count)
{
    struct Event events[SAMPLE_TRACK_DEPTH + SAMPLE_TRACK_WAITS];
    size_t depth, used = put_frames(samples, sample, events, &depth), i;

    for (i = 0; i < count && i < SAMPLE_TRACK_WAITS; i++)
        if (waits[i].ns >= 0.5e6)
            events[used++] = wait_event(sample, &waits[i], depth);
    store(samples, timeline, events, used);
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
    if ((Event_kind(event) != EVENT_SAMPLE &&
         Event_kind(event) != EVENT_OFF_CPU) ||
        depth > SAMPLE_TRACK_DEPTH || (!reader->whole && depth))
        return false;
    if (Event_kind(event) == EVENT_OFF_CPU) {
        *sample = (struct TimelineSample){.ticks = Event_ticks(event),
                                          .tid = (pid_t)(uint32_t)event->what,
                                          .path = reader->path,
                                          .depth = depth,
                                          .wait = wait_of(event->what)};
        return sample->wait.kind <= WAIT_UNKNOWN;
    }
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
