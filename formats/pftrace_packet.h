// SPDX-License-Identifier: MIT
// Makes packets of Perfetto's protobuf that contain text. pftrace_packet.c also
// makes the sequences and the tracks to which packets belong.
#pragma once

#include "formats/pftrace_fields.h"
#include "formats/protobuf.h"
#include "formats/trace_writer.h"

// Largest number of bytes of a TrackEvent without annotations.
#define EVENT_BYTES 16u

struct Pftrace {
    struct TraceWriter base;
    // The packet that is being made, if it contains text.
    struct Bytes packet;
    // Offsets of the begun packet and of the event in it (Protobuf_open).
    size_t from, event;
    uint64_t ns; // Time of the newest event of the present track in ns.
    // Number of names in the present sequence.
    uint64_t names;
    uint64_t places; // Number of source locations in the present sequence.
    uint64_t thread; // Number of the present thread's track.
    uint64_t frames; // Number of frames of samples in the present sequence.
    uint64_t stacks; // Number of stacks of samples in the present sequence.
    uint32_t sequence;
    uint32_t tracks;
    size_t sequence_size;
    // The encoded number of the sequence, which each packet contains.
    uint8_t sequence_field[EVENT_BYTES];
};

// Begins a packet in pf->packet.
void Pftrace_begin(struct Pftrace *pf, unsigned flags);
// Writes the packet to the file. Returns 0 or -errno.
int Pftrace_end(struct Pftrace *pf);
// Begins the packet of an event (TrackEvent) of the present track.
void Pftrace_begin_event(struct Pftrace *pf, uint64_t ticks, unsigned type);
// Begins the packet of an event of the track with the number `track`, whose
// time is not measured by the track's clock.
void Pftrace_begin_event_at(struct Pftrace *pf, uint64_t ns, unsigned type,
                            uint64_t track);
// Writes the packet of the event to the file, and counts the event. Returns 0
// or -errno.
int Pftrace_end_event(struct Pftrace *pf);
// Returns the time of an event as ns since the event before.
static inline uint64_t Pftrace_take_time(struct Pftrace *pf, uint64_t ticks)
{
    uint64_t ns = TraceWriter_ns(&pf->base, ticks), before = pf->ns;

    if (ns < before)
        return 0;
    pf->ns = ns;
    return ns - before;
}

void Pftrace_add_interned(struct Bytes *out, unsigned field, uint64_t iid,
                          const char *name);
// Returns the number of a track in the file. `number` is the number of the
// track in its process.
uint64_t Pftrace_uuid(const struct Pftrace *pf, uint64_t number);
// Begins a track. All packets up to the next Pftrace_begin_track belong to the
// track `uuid`. Returns 0 or -errno.
int Pftrace_begin_track(struct Pftrace *pf, uint64_t uuid);
// Makes the next track begin a new sequence of packets. A new sequence of
// packets does not know the names of earlier sequences.
void Pftrace_end_sequence(struct Pftrace *pf);
// Begins a packet whose time is not measured by the track's clock.
void Pftrace_begin_at(struct Pftrace *pf, uint64_t ns);
