// SPDX-License-Identifier: MIT
// See pftrace_samples.h. Each frame of a stack and each stack is written once.
// A sample is then written as a thread and the number of a stack.
#include "formats/pftrace_samples.h"
#include "formats/pftrace_packet.h"

// Perfetto needs for each frame the file from which the frame's code is mapped.
// The file of all frames is the one with the number MAPPING.
#define MAPPING 1

int PftraceSamples_begin(struct TraceWriter *writer)
{
    struct Pftrace *pf = (struct Pftrace *)writer;
    struct Bytes *out = &pf->packet;
    size_t packet, from, inside;
    int error;

    Pftrace_end_sequence(pf);
    error = Pftrace_begin_track(pf, Pftrace_uuid(pf, 0));
    if (error)
        return error;
    pf->frames = pf->stacks = 0;
    packet = Pftrace_begin(pf, FLAG_NEEDS_STATE);
    from = Protobuf_open(out, PACKET_INTERNED);
    Pftrace_add_interned(out, INTERNED_PATH, MAPPING, "Python");
    inside = Protobuf_open(out, INTERNED_MAPPING);
    Protobuf_add(out, IID, MAPPING);
    Protobuf_add(out, MAPPING_PATH, MAPPING);
    Protobuf_close(out, inside);
    Protobuf_close(out, from);
    return Pftrace_end(pf, packet);
}

// Adds a frame to the packet's interned data. Returns 0 or -ENOMEM.
static int add_frame(struct Pftrace *pf, uint32_t id, uint64_t number)
{
    struct Bytes *out = &pf->packet;
    char label[TRACE_FRAME];
    size_t from;

    TraceWriter_frame(&pf->base, id, label);
    Pftrace_add_interned(out, INTERNED_FUNCTION, number, label);
    from = Protobuf_open(out, INTERNED_FRAME);
    Protobuf_add(out, IID, number);
    Protobuf_add(out, FRAME_NAME, number);
    Protobuf_add(out, FRAME_MAPPING, MAPPING);
    Protobuf_add(out, FRAME_PC, id);
    Protobuf_close(out, from);
    return Encoded_add_number(&pf->base.encoded, Trace_frame_key(id), number);
}

// Adds all frames of a sample's stack to the packet. Sets numbers[i] to the
// number of the i-th frame. Returns 0 or -ENOMEM.
static int add_frames(struct Pftrace *pf, const struct TimelineSample *sample,
                      uint64_t numbers[SAMPLE_TRACK_DEPTH])
{
    int error = 0;
    size_t i;

    for (i = 0; !error && i < sample->depth; i++) {
        numbers[i] = Encoded_find_number(&pf->base.encoded,
                                         Trace_frame_key(sample->path[i]));
        if (numbers[i])
            continue;
        numbers[i] = ++pf->frames;
        error = add_frame(pf, sample->path[i], numbers[i]);
    }
    return error;
}

// Returns the number of a sample's stack. After an error returns 0, and the
// error is in pf->base.error.
static uint64_t intern(struct Pftrace *pf, const struct TimelineSample *sample)
{
    struct Bytes *out = &pf->packet;
    uint64_t key = TRACE_STACK_KEY;
    uint64_t number, numbers[SAMPLE_TRACK_DEPTH];
    size_t packet, from, inside, i;
    int error;

    for (i = 0; i < sample->depth; i++)
        key = Trace_stack_key(key, sample->path[i]);
    number = Encoded_find_number(&pf->base.encoded, key);
    if (number)
        return number;
    number = ++pf->stacks;
    packet = Pftrace_begin(pf, FLAG_NEEDS_STATE);
    from = Protobuf_open(out, PACKET_INTERNED);
    error = add_frames(pf, sample, numbers);
    inside = Protobuf_open(out, INTERNED_STACK);
    Protobuf_add(out, IID, number);
    for (i = 0; i < sample->depth && !error; i++)
        Protobuf_add(out, STACK_FRAME, numbers[i]);
    Protobuf_close(out, inside);
    Protobuf_close(out, from);
    if (!error)
        error = Pftrace_end(pf, packet);
    if (!error)
        error = Encoded_add_number(&pf->base.encoded, key, number);
    pf->base.error = error;
    return error ? 0 : number;
}

// A sample that found no traced function has no stack and is not written.
int PftraceSamples_put(struct TraceWriter *writer, uint64_t ns,
                       const struct TimelineSample *sample)
{
    struct Pftrace *pf = (struct Pftrace *)writer;
    struct Bytes *out = &pf->packet;
    uint64_t stack;
    size_t packet, from;
    int error;

    if (!sample->depth)
        return 0;
    stack = intern(pf, sample);
    if (!stack)
        return writer->error;
    packet = Pftrace_begin_at(pf, ns);
    from = Protobuf_open(out, PACKET_SAMPLE);
    Protobuf_add(out, SAMPLE_PID, (uint64_t)writer->trace->pid);
    Protobuf_add(out, SAMPLE_TID, (uint64_t)sample->tid);
    Protobuf_add(out, SAMPLE_STACK, stack);
    Protobuf_add(out, SAMPLE_MODE, MODE_USER);
    Protobuf_close(out, from);
    error = Pftrace_end(pf, packet);
    return error ? error : TraceWriter_count(writer);
}
