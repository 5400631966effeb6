// SPDX-License-Identifier: MIT
// Makes packets of Perfetto's protobuf that contain text. Also makes the
// sequences and tracks to which packets belong. pftrace*.c call these functions
// on the writing thread.
#ifndef OCULAR_FORMATS_PFTRACE_PACKET_H
#define OCULAR_FORMATS_PFTRACE_PACKET_H

#include "formats/pftrace_fields.h"
#include "formats/protobuf.h"
#include "formats/trace_writer.h"

#define EVENT_BYTES 16u // maximum size of a TrackEvent without annotations

struct Pftrace {
    struct TraceWriter base;
    // A packet with text, while the packet is made.
    struct Bytes packet;
    uint64_t ns; // time of the newest event of this track
    // Number of names in this sequence.
    uint64_t names;
    uint64_t places; // number of source locations in this sequence
    uint64_t thread; // number of the thread's track
    uint64_t frames; // number of samples' frames
    uint64_t stacks; // number of samples' stacks
    uint32_t sequence;
    uint32_t tracks;
    size_t sequence_size;
    uint8_t sequence_field[EVENT_BYTES]; // the field as it is in each packet
};

// Begins a packet in pf->packet. Returns the argument for Pftrace_end.
size_t Pftrace_begin(struct Pftrace *pf, unsigned flags);
// Writes the packet. Returns 0 or -errno.
int Pftrace_end(struct Pftrace *pf, size_t from);
// Returns the time of an event as ns since the previous event.
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
// Returns a track's number in the file. `number` is the track's number in the
// process.
uint64_t Pftrace_uuid(const struct Pftrace *pf, uint64_t number);
// Starts a track. The next packets belong to this track. Returns 0 or -errno.
int Pftrace_begin_track(struct Pftrace *pf, uint64_t uuid);
// Makes the next track begin a new sequence. A new sequence knows no names.
void Pftrace_end_sequence(struct Pftrace *pf);
// Begins a packet whose time does not belong to the track's clock.
size_t Pftrace_begin_at(struct Pftrace *pf, uint64_t ns);

#endif
