// SPDX-License-Identifier: MIT
#include "formats/pftrace_packet.h"

void Pftrace_begin(struct Pftrace *pf, unsigned flags)
{
    Bytes_clear(&pf->packet);
    pf->from = Protobuf_open(&pf->packet, TRACE_PACKET);
    Protobuf_add(&pf->packet, PACKET_SEQUENCE, pf->sequence);
    Protobuf_add(&pf->packet, PACKET_FLAGS, flags);
}

int Pftrace_end(struct Pftrace *pf)
{
    Protobuf_close(&pf->packet, pf->from);
    if (pf->packet.error)
        return pf->packet.error;
    return TraceWriter_put(&pf->base, pf->packet.data, pf->packet.size);
}

void Pftrace_add_interned(struct Bytes *out, unsigned field, uint64_t iid,
                          const char *name)
{
    size_t from = Protobuf_open(out, field);

    Protobuf_add(out, IID, iid);
    Protobuf_add_text(out, IID_NAME, name);
    Protobuf_close(out, from);
}

// Adds the names of annotations and categories that every sequence of packets
// has.
static void add_fixed_names(struct Bytes *out)
{
    size_t from = Protobuf_open(out, PACKET_INTERNED);
    unsigned how;

    Pftrace_add_interned(out, INTERNED_CATEGORY, CATEGORY_OCULAR, "ocular");
    Pftrace_add_interned(out, INTERNED_CATEGORY, CATEGORY_STEP, "instruction");
    Pftrace_add_interned(out, INTERNED_NOTE, NAME_CYCLES, "Hardware Cycles");
    Pftrace_add_interned(out, INTERNED_NOTE, NAME_UOPS, "uOps");
    Pftrace_add_interned(out, INTERNED_NOTE, NAME_CODE, "code_ptr");
    Pftrace_add_interned(out, INTERNED_NOTE, NAME_EVENTS, "events");
    Pftrace_add_interned(out, INTERNED_NOTE, NAME_NOTE, "note");
    Pftrace_add_interned(out, INTERNED_NOTE, NAME_NS, "ns");
    for (how = CALL_RAISED; how <= CALL_PARKED; how++)
        Pftrace_add_interned(out, INTERNED_NOTE, NAME_END + how,
                             Trace_end_word(how));
    for (how = CALL_EARLIER; how <= CALL_RESUMED; how++)
        Pftrace_add_interned(out, INTERNED_NOTE, NAME_BEGIN + how,
                             Trace_begin_word(how));
    Pftrace_add_interned(out, INTERNED_TEXT, TEXT_INSTANT + EVENT_DARK,
                         Trace_instant_note(EVENT_DARK));
    Pftrace_add_interned(out, INTERNED_TEXT, TEXT_INSTANT + EVENT_WAIT,
                         Trace_instant_note(EVENT_WAIT));
    Protobuf_close(out, from);
}

static void add_clock(struct Bytes *out, unsigned id, uint64_t ns,
                      bool incremental)
{
    size_t from = Protobuf_open(out, CLOCKS_CLOCK);

    Protobuf_add(out, CLOCK_ID, id);
    Protobuf_add(out, CLOCK_TIME, ns);
    if (incremental)
        Protobuf_add(out, CLOCK_IS_INCREMENTAL, 1);
    Protobuf_close(out, from);
}

// The clock of a track is 0 at the start of tracing, and the time of an event
// is written as the ns since the event before it. Each track has its own clock,
// because Perfetto does not accept a clock that goes back.
static void add_clocks(struct Bytes *out, const struct PerfettoTrace *trace,
                       unsigned clock, bool first)
{
    size_t from = Protobuf_open(out, PACKET_CLOCKS);

    add_clock(out, clock, 0, true);
    add_clock(out, CLOCK_BOOT, trace->start_boot_ns, false);
    if (first) {
        add_clock(out, CLOCK_REAL, trace->start_unix_ns, false);
        Protobuf_add(out, CLOCKS_PRIMARY, CLOCK_BOOT);
    }
    Protobuf_close(out, from);
}

uint64_t Pftrace_uuid(const struct Pftrace *pf, uint64_t number)
{
    return (uint64_t)(uint32_t)pf->base.trace->pid << 32 | number;
}

int Pftrace_begin_track(struct Pftrace *pf, uint64_t uuid)
{
    unsigned place = pf->tracks++ % CLOCKS_OURS, clock = CLOCK_OURS + place;
    struct Bytes *out = &pf->packet;
    size_t defaults, event;
    uint8_t *end;

    if (place == 0) {
        pf->sequence++;
        pf->names = pf->places = 0;
        Encoded_clear(&pf->base.encoded);
        end = Protobuf_put_field(pf->sequence_field, PACKET_SEQUENCE,
                                 pf->sequence);
        pf->sequence_size = (size_t)(end - pf->sequence_field);
    }
    pf->ns = 0;
    Pftrace_begin(pf, place ? FLAG_NEEDS_STATE : FLAG_STATE_CLEARED);
    defaults = Protobuf_open(out, PACKET_DEFAULTS);
    Protobuf_add(out, DEFAULTS_CLOCK, clock);
    event = Protobuf_open(out, DEFAULTS_EVENT);
    Protobuf_add(out, TRACK_EVENT_TRACK, uuid);
    Protobuf_close(out, event);
    Protobuf_close(out, defaults);
    if (place == 0)
        add_fixed_names(out);
    add_clocks(out, pf->base.trace, clock, pf->tracks == 1);
    return Pftrace_end(pf);
}

void Pftrace_end_sequence(struct Pftrace *pf)
{
    pf->tracks += (CLOCKS_OURS - pf->tracks % CLOCKS_OURS) % CLOCKS_OURS;
}

void Pftrace_begin_at(struct Pftrace *pf, uint64_t ns)
{
    Pftrace_begin(pf, FLAG_NEEDS_STATE);
    Protobuf_add(&pf->packet, PACKET_TIME, pf->base.trace->start_boot_ns + ns);
    Protobuf_add(&pf->packet, PACKET_CLOCK, CLOCK_BOOT);
}

static void open_event(struct Pftrace *pf, unsigned type)
{
    pf->event = Protobuf_open(&pf->packet, PACKET_EVENT);
    Protobuf_add(&pf->packet, TRACK_EVENT_TYPE, type);
}

void Pftrace_begin_event(struct Pftrace *pf, uint64_t ticks, unsigned type)
{
    Pftrace_begin(pf, FLAG_NEEDS_STATE);
    pf->base.last = ticks;
    Protobuf_add(&pf->packet, PACKET_TIME, Pftrace_take_time(pf, ticks));
    open_event(pf, type);
}

void Pftrace_begin_event_at(struct Pftrace *pf, uint64_t ns, unsigned type,
                            uint64_t track)
{
    Pftrace_begin_at(pf, ns);
    open_event(pf, type);
    Protobuf_add(&pf->packet, TRACK_EVENT_TRACK, Pftrace_uuid(pf, track));
}

int Pftrace_end_event(struct Pftrace *pf)
{
    int error;

    Protobuf_close(&pf->packet, pf->event);
    error = Pftrace_end(pf);
    return error ? error : TraceWriter_count(&pf->base);
}
