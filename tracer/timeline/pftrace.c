// SPDX-License-Identifier: MIT
// The protobuf writer. A name or a place goes into the file once and has a
// number from then on; a time is the ns since the event before it; a thread's
// track is its packets' default. perfetto.c calls it, on the writing thread.
#include "tracer/timeline/pftrace.h"
#include "tracer/base/protobuf.h"
#include "tracer/timeline/pftrace_fields.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define EVENT_BYTES 16u // a TrackEvent without annotations, at most
#define NOTES_BYTES 40u // the annotations of a call or a loop, at most
#define PACKET_BYTES (64u + EVENT_BYTES + NOTES_BYTES)

struct Pftrace {
    struct TraceWriter base;
    struct Bytes packet; // one with text, while it is made
    uint64_t ns;         // of the newest event of this track
    uint64_t names;      // numbers given to names, in this sequence
    uint64_t places;     // and to source locations
    uint32_t sequence;
    uint32_t tracks;
    size_t sequence_size;
    uint8_t sequence_field[EVENT_BYTES]; // as each packet has it
};

// --- Packets with text -------------------------------------------------------

// Begins a packet in pf->packet. Returns what end_packet is to be given.
static size_t begin_packet(struct Pftrace *pf, unsigned flags)
{
    size_t from;

    Bytes_clear(&pf->packet);
    from = Protobuf_open(&pf->packet, TRACE_PACKET);
    Protobuf_add(&pf->packet, PACKET_SEQUENCE, pf->sequence);
    Protobuf_add(&pf->packet, PACKET_FLAGS, flags);
    return from;
}

static int end_packet(struct Pftrace *pf, size_t from)
{
    Protobuf_close(&pf->packet, from);
    if (pf->packet.error)
        return pf->packet.error;
    return TraceWriter_put(&pf->base, pf->packet.data, pf->packet.size);
}

// Takes the time of an event: ns since the one before it.
static uint64_t take_time(struct Pftrace *pf, uint64_t ticks)
{
    uint64_t ns = TraceWriter_ns(&pf->base, ticks), before = pf->ns;

    if (ns < before)
        return 0;
    pf->ns = ns;
    return ns - before;
}

static void add_interned(struct Bytes *out, unsigned field, uint64_t iid,
                         const char *name)
{
    size_t from = Protobuf_open(out, field);

    Protobuf_add(out, IID, iid);
    Protobuf_add_text(out, IID_NAME, name);
    Protobuf_close(out, from);
}

// The names that annotations and categories have in every sequence.
static void add_fixed_names(struct Bytes *out)
{
    size_t from = Protobuf_open(out, PACKET_INTERNED);
    unsigned how;

    add_interned(out, INTERNED_CATEGORY, CATEGORY_OCULAR, "ocular");
    add_interned(out, INTERNED_NOTE, NAME_CYCLES, "Hardware Cycles");
    add_interned(out, INTERNED_NOTE, NAME_UOPS, "uOps");
    add_interned(out, INTERNED_NOTE, NAME_CODE, "code_ptr");
    add_interned(out, INTERNED_NOTE, NAME_EVENTS, "events");
    add_interned(out, INTERNED_NOTE, NAME_NOTE, "note");
    for (how = CALL_RAISED; how <= CALL_PARKED; how++)
        add_interned(out, INTERNED_NOTE, NAME_END + how, Trace_end_word(how));
    for (how = CALL_EARLIER; how <= CALL_RESUMED; how++)
        add_interned(out, INTERNED_NOTE, NAME_BEGIN + how,
                     Trace_begin_word(how));
    add_interned(out, INTERNED_TEXT, TEXT_DARK, TRACE_DARK_NOTE);
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

// The track's clock begins at 0, which is the start. It counts on from the
// event before: Perfetto refuses a clock that is set back.
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

// What packets are of from here on: this track.
static int begin_track(struct Pftrace *pf, uint64_t uuid)
{
    unsigned place = pf->tracks++ % CLOCKS_OURS, clock = CLOCK_OURS + place;
    struct Bytes *out = &pf->packet;
    size_t packet, defaults, event;
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
    packet = begin_packet(pf, place ? FLAG_NEEDS_STATE : FLAG_STATE_CLEARED);
    defaults = Protobuf_open(out, PACKET_DEFAULTS);
    Protobuf_add(out, DEFAULTS_CLOCK, clock);
    event = Protobuf_open(out, DEFAULTS_EVENT);
    Protobuf_add(out, TRACK_EVENT_TRACK, uuid);
    Protobuf_close(out, event);
    Protobuf_close(out, defaults);
    if (place == 0)
        add_fixed_names(out);
    add_clocks(out, pf->base.trace, clock, pf->tracks == 1);
    return end_packet(pf, packet);
}

// --- Events: a few bytes into the buffer -------------------------------------

// A packet of an event without text. `event` has EVENT_BYTES to be read,
// `notes` its annotations.
static int put_event(struct Pftrace *pf, uint64_t ticks, const uint8_t *event,
                     size_t size, const uint8_t *notes, size_t notes_size)
{
    uint8_t *packet = TraceWriter_room(&pf->base, PACKET_BYTES), *at;

    if (!packet)
        return pf->base.error;
    pf->base.last = ticks;
    packet[0] = TRACE_PACKET << 3 | 2;
    at = Protobuf_put_field(packet + 2, PACKET_TIME, take_time(pf, ticks));
    memcpy(at, pf->sequence_field, EVENT_BYTES);
    at += pf->sequence_size;
    *at++ = PACKET_EVENT << 3 | 2;
    *at++ = (uint8_t)(size + notes_size);
    memcpy(at, event, EVENT_BYTES);
    at += size;
    if (notes_size)
        memcpy(at, notes, notes_size);
    at += notes_size;
    packet[1] = (uint8_t)(at - packet - 2); // one byte: below PACKET_BYTES
    TraceWriter_took(&pf->base, at);
    return TraceWriter_count(&pf->base);
}

static int put_encoded(struct Pftrace *pf, uint64_t ticks,
                       const struct EncodedEntry *entry, const uint8_t *notes,
                       size_t notes_size)
{
    if (!entry)
        return pf->base.error;
    return put_event(pf, ticks, Encoded_first(&pf->base.encoded, entry),
                     entry->first, notes, notes_size);
}

// An annotation whose value is a varint.
static uint8_t *put_note(uint8_t *at, unsigned name, unsigned field,
                         uint64_t value)
{
    uint8_t *note = at;

    at = Protobuf_put_field(at + 2, NOTE_NAME_IID, name);
    at = Protobuf_put_field(at, field, value);
    note[0] = TRACK_EVENT_NOTE << 3 | 2;
    note[1] = (uint8_t)(at - note - 2);
    return at;
}

// --- What is encoded once ----------------------------------------------------

// Writes names (and a place, if `file`), and keeps the event that has their
// numbers. NULL: pf->base.error says why.
static const struct EncodedEntry *intern(struct Pftrace *pf, uint64_t key,
                                         unsigned type, const char *label,
                                         const struct TraceName *place)
{
    size_t packet = begin_packet(pf, FLAG_NEEDS_STATE);
    size_t from = Protobuf_open(&pf->packet, PACKET_INTERNED), inside;
    const struct EncodedEntry *entry = NULL;
    uint8_t event[EVENT_BYTES], *at;

    at = Protobuf_put_field(event, TRACK_EVENT_TYPE, type);
    at = Protobuf_put_field(at, TRACK_EVENT_NAME_IID, ++pf->names);
    add_interned(&pf->packet, INTERNED_NAME, pf->names, label);
    if (place) {
        at = Protobuf_put_field(at, TRACK_EVENT_PLACE_IID, ++pf->places);
        inside = Protobuf_open(&pf->packet, INTERNED_PLACE);
        Protobuf_add(&pf->packet, IID, pf->places);
        Protobuf_add_text(&pf->packet, IID_NAME, place->file);
        Protobuf_add_text(&pf->packet, PLACE_FUNCTION, label);
        Protobuf_add(&pf->packet, PLACE_LINE, place->line);
        Protobuf_close(&pf->packet, inside);
    }
    if (key == Trace_dark_key((uint32_t)key))
        at = Protobuf_put_field(at, TRACK_EVENT_CATEGORY_IID, CATEGORY_OCULAR);
    Protobuf_close(&pf->packet, from);
    pf->base.error = end_packet(pf, packet);
    if (!pf->base.error)
        entry = Encoded_add(&pf->base.encoded, key,
                            (struct EncodedPiece){event, (size_t)(at - event)},
                            (struct EncodedPiece){NULL, 0});
    if (!entry && !pf->base.error)
        pf->base.error = -ENOMEM;
    return entry;
}

// "what: NAME", of the key's function.
static const struct EncodedEntry *intern_label(struct Pftrace *pf, uint64_t key,
                                               const char *what)
{
    char label[TRACE_NAME + 32];
    struct TraceName name;

    TraceWriter_name(&pf->base, (uint32_t)key, &name);
    snprintf(label, sizeof label, "%s: %s", what, name.name);
    return intern(pf, key, TYPE_INSTANT, label, NULL);
}

// --- The format --------------------------------------------------------------

// The first call of a function says where its code object is: an address in
// each would be two thirds of a call.
static int begin_call(void *context, uint64_t ticks, uint32_t id,
                      enum CallBegin how)
{
    struct Pftrace *pf = context;
    const struct EncodedEntry *entry =
        Encoded_find(&pf->base.encoded, Trace_function_key(id));
    uint8_t notes[NOTES_BYTES], *at = notes;

    if (!entry) {
        struct TraceName name;

        TraceWriter_name(&pf->base, id, &name);
        entry =
            intern(pf, Trace_function_key(id), TYPE_BEGIN, name.name, &name);
        at = put_note(at, NAME_CODE, NOTE_POINTER, name.address);
    }
    if (how != CALL_ENTERED)
        at = put_note(at, NAME_BEGIN + how, NOTE_BOOL, 1);
    return put_encoded(pf, ticks, entry, notes, (size_t)(at - notes));
}

// A slice's end has no name: it ends the innermost of its track.
static int end_call(void *context, uint64_t ticks, uint32_t id,
                    enum CallEnd how)
{
    static const uint8_t event[EVENT_BYTES] = {TRACK_EVENT_TYPE << 3, TYPE_END};
    uint8_t notes[NOTES_BYTES], *at = notes;

    (void)id;
    if (how != CALL_LEFT)
        at = put_note(at, NAME_END + how, NOTE_BOOL, 1);
    return put_event(context, ticks, event, 2, notes, (size_t)(at - notes));
}

static int write_loop(struct TraceWriter *writer, uint64_t ticks,
                      const struct Event *event, uint32_t inside)
{
    struct Pftrace *pf = (struct Pftrace *)writer;
    uint64_t key = Trace_loop_key(inside, Event_unit(event));
    const struct EncodedEntry *entry = Encoded_find(&writer->encoded, key);
    uint8_t notes[NOTES_BYTES], *at = notes;
    char what[32];

    if (!entry) {
        snprintf(what, sizeof what, "loop @%u", 2 * Event_unit(event));
        entry = intern_label(pf, key, what);
    }
    at = put_note(at, NAME_UOPS, NOTE_NUMBER, Event_instructions(event));
    at = put_note(at, NAME_CYCLES, NOTE_NUMBER, Event_cycles(event));
    return put_encoded(pf, ticks, entry, notes, (size_t)(at - notes));
}

static int write_dark(struct TraceWriter *writer, uint64_t ticks, uint32_t id)
{
    struct Pftrace *pf = (struct Pftrace *)writer;
    uint64_t key = Trace_dark_key(id);
    const struct EncodedEntry *entry = Encoded_find(&writer->encoded, key);
    uint8_t notes[NOTES_BYTES], *at;

    if (!entry)
        entry = intern_label(pf, key, "dark");
    at = put_note(notes, NAME_NOTE, NOTE_TEXT_IID, TEXT_DARK);
    return put_encoded(pf, ticks, entry, notes, (size_t)(at - notes));
}

// Begins the packet of an instant of ours; end_instant is given `from`.
static void begin_instant(struct Pftrace *pf, uint64_t ticks, const char *name,
                          size_t from[2])
{
    struct Bytes *out = &pf->packet;

    from[0] = begin_packet(pf, FLAG_NEEDS_STATE);
    pf->base.last = ticks;
    Protobuf_add(out, PACKET_TIME, take_time(pf, ticks));
    from[1] = Protobuf_open(out, PACKET_EVENT);
    Protobuf_add(out, TRACK_EVENT_TYPE, TYPE_INSTANT);
    Protobuf_add(out, TRACK_EVENT_CATEGORY_IID, CATEGORY_OCULAR);
    Protobuf_add_text(out, TRACK_EVENT_NAME, name);
}

static int end_instant(struct Pftrace *pf, const size_t from[2])
{
    int error;

    Protobuf_close(&pf->packet, from[1]);
    error = end_packet(pf, from[0]);
    return error ? error : TraceWriter_count(&pf->base);
}

static int write_gap(struct TraceWriter *writer, uint64_t ticks,
                     const char *what, uint64_t count)
{
    struct Pftrace *pf = (struct Pftrace *)writer;
    size_t from[2], note;
    char name[64];

    snprintf(name, sizeof name, "%s: %" PRIu64 " events", what, count);
    begin_instant(pf, ticks, name, from);
    note = Protobuf_open(&pf->packet, TRACK_EVENT_NOTE);
    Protobuf_add(&pf->packet, NOTE_NAME_IID, NAME_EVENTS);
    Protobuf_add(&pf->packet, NOTE_NUMBER, count);
    Protobuf_close(&pf->packet, note);
    return end_instant(pf, from);
}

static void add_fact(struct Bytes *out, const struct TraceFact *fact)
{
    size_t note = Protobuf_open(out, TRACK_EVENT_NOTE);

    Protobuf_add_text(out, NOTE_NAME, fact->key);
    if (fact->kind == FACT_TEXT)
        Protobuf_add_text(out, NOTE_TEXT, fact->text);
    else if (fact->kind == FACT_NUMBER)
        Protobuf_add(out, NOTE_NUMBER, fact->number);
    else
        Protobuf_add_real(out, NOTE_REAL, fact->real);
    Protobuf_close(out, note);
}

// Begins a track, whose number is unique in the process, and its descriptor.
static int open_track(struct Pftrace *pf, uint64_t number, unsigned field,
                      size_t from[3])
{
    pid_t pid = pf->base.trace->pid;
    uint64_t uuid = (uint64_t)(uint32_t)pid << 32 | number;
    int error = begin_track(pf, uuid);

    from[0] = begin_packet(pf, FLAG_NEEDS_STATE);
    from[1] = Protobuf_open(&pf->packet, PACKET_TRACK);
    Protobuf_add(&pf->packet, TRACK_UUID, uuid);
    from[2] = Protobuf_open(&pf->packet, field);
    Protobuf_add(&pf->packet, DESCRIPTOR_PID, (uint64_t)pid);
    return error;
}

static int close_track(struct Pftrace *pf, const size_t from[3])
{
    Protobuf_close(&pf->packet, from[2]);
    Protobuf_close(&pf->packet, from[1]);
    return end_packet(pf, from[0]);
}

// The process's own track has one instant, about the run.
static int write_head(struct TraceWriter *writer)
{
    const struct PerfettoTrace *trace = writer->trace;
    struct Pftrace *pf = (struct Pftrace *)writer;
    struct TraceFact facts[TRACE_FACTS];
    size_t from[3];
    int error = open_track(pf, 0, TRACK_PROCESS, from), i;

    Protobuf_add_text(&pf->packet, PROCESS_NAME,
                      trace->command ? trace->command : "python");
    if (!error)
        error = close_track(pf, from);
    if (error)
        return error;
    TraceWriter_facts(writer, facts);
    begin_instant(pf, trace->view->first_ticks, "about this trace", from);
    for (i = 0; i < TRACE_FACTS; i++)
        add_fact(&pf->packet, &facts[i]);
    return end_instant(pf, from);
}

static int write_thread(struct TraceWriter *writer,
                        const struct TimelineThread *thread)
{
    struct Pftrace *pf = (struct Pftrace *)writer;
    size_t from[3];
    int error =
        open_track(pf, (uint64_t)thread->number + 1, TRACK_THREAD, from);

    Protobuf_add(&pf->packet, THREAD_TID, (uint64_t)thread->tid);
    Protobuf_add(&pf->packet, THREAD_SORT, thread->number);
    Protobuf_add_text(&pf->packet, THREAD_NAME, thread->name);
    return error ? error : close_track(pf, from);
}

static void release(struct TraceWriter *writer)
{
    Bytes_release(&((struct Pftrace *)writer)->packet);
}

const struct TraceFormat Pftrace_format = {
    .writer_bytes = sizeof(struct Pftrace),
    .head = write_head,
    .thread = write_thread,
    .begin = begin_call,
    .end = end_call,
    .loop = write_loop,
    .dark = write_dark,
    .gap = write_gap,
    .release = release,
};
