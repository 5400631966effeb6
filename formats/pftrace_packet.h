// SPDX-License-Identifier: MIT
// Packets of Perfetto's protobuf with text in them, and the sequences and
// tracks that packets are of. pftrace.c calls it, on the writing thread.
#ifndef OCULAR_FORMATS_PFTRACE_PACKET_H
#define OCULAR_FORMATS_PFTRACE_PACKET_H

#include "formats/pftrace_fields.h"
#include "formats/protobuf.h"
#include "formats/trace_writer.h"

#define EVENT_BYTES 16u // a TrackEvent without annotations, at most

struct Pftrace {
    struct TraceWriter base;
    struct Bytes packet; // one with text, while it is made
    uint64_t ns;         // of the newest event of this track
    uint64_t names;      // numbers given to names, in this sequence
    uint64_t places;     // and to source locations
    uint64_t thread;     // the number of its track
    uint64_t frames;     // numbers given to frames of samples
    uint64_t stacks;     // and to their stacks
    uint32_t sequence;
    uint32_t tracks;
    size_t sequence_size;
    uint8_t sequence_field[EVENT_BYTES]; // as each packet has it
};

// Begins a packet in pf->packet. Returns the argument for Pftrace_end.
size_t Pftrace_begin(struct Pftrace *pf, unsigned flags);
// Writes it. 0 or -errno.
int Pftrace_end(struct Pftrace *pf, size_t from);
// Takes the time of an event: ns since the one before it.
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
// A track's number in the file, of one that is unique in the process.
uint64_t Pftrace_uuid(const struct Pftrace *pf, uint64_t number);
// From here on packets are of this track. 0 or -errno.
int Pftrace_begin_track(struct Pftrace *pf, uint64_t uuid);
// The next track begins a sequence, which no names are known in.
void Pftrace_end_sequence(struct Pftrace *pf);
// Begins a packet that has a time of its own, whatever the track's clock says.
size_t Pftrace_begin_at(struct Pftrace *pf, uint64_t ns);

#endif
