// SPDX-License-Identifier: MIT
// Writes a trace in Perfetto's protobuf format. Each name and each source
// location is written once, and events refer to it by its number. The time of
// an event is written as ns since the event before. Packets of a thread do not
// name their track, because the thread's track is the default of these packets.
#include "formats/pftrace.h"
#include "formats/pftrace_own_event.h"
#include "formats/pftrace_packet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NOTES_BYTES 40u // Largest number of bytes of an event's annotations.
#define PACKET_BYTES (64u + EVENT_BYTES + NOTES_BYTES)

// --- Events: a few bytes in the buffer ---------------------------------------

// Writes an annotation. The annotation's name is a number of pftrace_fields.h,
// and its value is a varint. Returns the address behind the annotation.
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

// Writes the packet of an event without text. put_event always reads
// EVENT_BYTES bytes of `event`, even if the event is shorter. `notes` are the
// encoded annotations of the event.
static int put_event(struct Pftrace *pf, uint64_t ticks, const uint8_t *event,
                     size_t size, const uint8_t *notes, size_t notes_size)
{
    uint8_t *packet = TraceWriter_room(&pf->base, PACKET_BYTES), *at;

    if (!packet)
        return pf->base.error;
    pf->base.last = ticks;
    packet[0] = TRACE_PACKET << 3 | 2;
    at = Protobuf_put_field(packet + 2, PACKET_TIME,
                            Pftrace_take_time(pf, ticks));
    memcpy(at, pf->sequence_field, EVENT_BYTES);
    at += pf->sequence_size;
    *at++ = PACKET_EVENT << 3 | 2;
    *at++ = (uint8_t)(size + notes_size);
    memcpy(at, event, EVENT_BYTES);
    at += size;
    if (notes_size)
        memcpy(at, notes, notes_size);
    at += notes_size;
    // The packet's length takes one byte, because PACKET_BYTES is small.
    packet[1] = (uint8_t)(at - packet - 2);
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

// --- Events that are encoded once --------------------------------------------

// Writes a name, and also a source location if `place` is not NULL. Adds an
// entry to the table of encoded bytes, which refers to the name and the source
// location by their numbers. After an error returns NULL, and the error is in
// pf->base.error.
static const struct EncodedEntry *intern(struct Pftrace *pf, uint64_t key,
                                         unsigned type, const char *label,
                                         const struct TraceName *place)
{
    const struct EncodedEntry *entry = NULL;
    uint8_t event[EVENT_BYTES], *at;
    size_t from, inside;

    Pftrace_begin(pf, FLAG_NEEDS_STATE);
    from = Protobuf_open(&pf->packet, PACKET_INTERNED);
    at = Protobuf_put_field(event, TRACK_EVENT_TYPE, type);
    at = Protobuf_put_field(at, TRACK_EVENT_NAME_IID, ++pf->names);
    Pftrace_add_interned(&pf->packet, INTERNED_NAME, pf->names, label);
    if (place) {
        at = Protobuf_put_field(at, TRACK_EVENT_PLACE_IID, ++pf->places);
        inside = Protobuf_open(&pf->packet, INTERNED_PLACE);
        Protobuf_add(&pf->packet, IID, pf->places);
        Protobuf_add_text(&pf->packet, IID_NAME, place->file);
        Protobuf_add_text(&pf->packet, PLACE_FUNCTION, place->name);
        Protobuf_add(&pf->packet, PLACE_LINE, place->line);
        Protobuf_close(&pf->packet, inside);
    }
    // EVENT_BYTES are enough if there are fewer than 2^28 names.
    if (Trace_is(key, KEY_STEP))
        at = Protobuf_put_field(at, TRACK_EVENT_CATEGORY_IID, CATEGORY_STEP);
    if (Trace_is(key, KEY_INSTANT))
        at = Protobuf_put_field(at, TRACK_EVENT_CATEGORY_IID, CATEGORY_OCULAR);
    Protobuf_close(&pf->packet, from);
    pf->base.error = Pftrace_end(pf);
    if (!pf->base.error)
        entry = Encoded_add(&pf->base.encoded, key,
                            (struct EncodedPiece){event, (size_t)(at - event)},
                            (struct EncodedPiece){NULL, 0});
    if (!entry && !pf->base.error)
        pf->base.error = -ENOMEM;
    return entry;
}

// Writes a label "what: NAME" as a name, in which NAME is the name of the
// function of the key.
static const struct EncodedEntry *intern_label(struct Pftrace *pf, uint64_t key,
                                               const char *what)
{
    char label[TRACE_NAME + 32];
    struct TraceName name;

    TraceWriter_name(&pf->base, (uint32_t)key, &name);
    snprintf(label, sizeof label, "%s: %s", what, name.name);
    return intern(pf, key, TYPE_INSTANT, label, NULL);
}

// --- Table of the format -----------------------------------------------------

// Only a function's first call carries the address of the code object, because
// the address would make each call three times as long.
static int begin_call(struct TraceWriter *writer, uint64_t ticks, uint32_t id,
                      enum CallBegin how)
{
    struct Pftrace *pf = (struct Pftrace *)writer;
    const struct EncodedEntry *entry =
        Encoded_find(&pf->base.encoded, Trace_key(KEY_FUNCTION, id, 0));
    uint8_t notes[NOTES_BYTES], *at = notes;

    if (!entry) {
        struct TraceName name;

        TraceWriter_name(&pf->base, id, &name);
        entry = intern(pf, Trace_key(KEY_FUNCTION, id, 0), TYPE_BEGIN,
                       name.name, &name);
        at = put_note(at, NAME_CODE, NOTE_POINTER, name.address);
    }
    if (how != CALL_ENTERED)
        at = put_note(at, NAME_BEGIN + how, NOTE_BOOL, 1);
    return put_encoded(pf, ticks, entry, notes, (size_t)(at - notes));
}

// The event at the end of a slice has no name, because it ends the innermost
// slice of its track.
static int put_end(struct Pftrace *pf, uint64_t ticks, const uint8_t *notes,
                   size_t notes_size)
{
    static const uint8_t event[EVENT_BYTES] = {TRACK_EVENT_TYPE << 3, TYPE_END};

    return put_event(pf, ticks, event, 2, notes, notes_size);
}

static int end_call(struct TraceWriter *writer, uint64_t ticks, uint32_t id,
                    enum CallEnd how)
{
    struct Pftrace *pf = (struct Pftrace *)writer;
    uint8_t notes[NOTES_BYTES], *at = notes;

    (void)id;
    if (how != CALL_LEFT)
        at = put_note(at, NAME_END + how, NOTE_BOOL, 1);
    return put_end(pf, ticks, notes, (size_t)(at - notes));
}

static int write_step(struct TraceWriter *writer, uint64_t ticks,
                      uint32_t inside, uint64_t what, bool begins)
{
    struct Pftrace *pf = (struct Pftrace *)writer;
    uint64_t key = Trace_key(KEY_STEP, inside, (unsigned)(what >> 32 & 0xffff));
    const struct EncodedEntry *entry = Encoded_find(&writer->encoded, key);
    char label[TRACE_STEP];
    struct TraceName place;

    if (!begins)
        return put_end(pf, ticks, NULL, 0);
    if (!entry) {
        TraceWriter_step(writer, what, label);
        TraceWriter_name(writer, inside, &place);
        place.line = (uint32_t)what;
        entry = intern(pf, key, TYPE_BEGIN, label, &place);
    }
    return put_encoded(pf, ticks, entry, NULL, 0);
}

static int write_loop(struct TraceWriter *writer, uint64_t ticks,
                      const struct Event *event, uint32_t inside)
{
    struct Pftrace *pf = (struct Pftrace *)writer;
    uint64_t key = Trace_key(KEY_LOOP, inside, Event_unit(event));
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

static int write_instant(struct TraceWriter *writer, uint64_t ticks,
                         const struct Event *event, uint32_t id)
{
    struct Pftrace *pf = (struct Pftrace *)writer;
    enum EventKind kind = Event_kind(event);
    uint64_t key = Trace_key(KEY_INSTANT, id, kind);
    const struct EncodedEntry *entry = Encoded_find(&writer->encoded, key);
    uint8_t notes[NOTES_BYTES], *at;

    if (!entry)
        entry = intern_label(pf, key, Trace_instant_word(kind));
    at = put_note(notes, NAME_NOTE, NOTE_TEXT_IID, TEXT_INSTANT + kind);
    if (kind == EVENT_WAIT)
        at = put_note(at, NAME_NS, NOTE_NUMBER,
                      TraceWriter_span_ns(writer, event->what));
    return put_encoded(pf, ticks, entry, notes, (size_t)(at - notes));
}

// Begins the packet of an instant of Ocular's own kinds.
static void begin_instant(struct Pftrace *pf, uint64_t ticks, const char *name)
{
    Pftrace_begin_event(pf, ticks, TYPE_INSTANT);
    Protobuf_add(&pf->packet, TRACK_EVENT_CATEGORY_IID, CATEGORY_OCULAR);
    Protobuf_add_text(&pf->packet, TRACK_EVENT_NAME, name);
}

static int write_gap(struct TraceWriter *writer, uint64_t ticks,
                     const char *what, uint64_t count)
{
    struct Pftrace *pf = (struct Pftrace *)writer;
    char name[64];
    size_t note;

    snprintf(name, sizeof name, "%s: %" PRIu64 " events", what, count);
    begin_instant(pf, ticks, name);
    note = Protobuf_open(&pf->packet, TRACK_EVENT_NOTE);
    Protobuf_add(&pf->packet, NOTE_NAME_IID, NAME_EVENTS);
    Protobuf_add(&pf->packet, NOTE_NUMBER, count);
    Protobuf_close(&pf->packet, note);
    return Pftrace_end_event(pf);
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

// Begins a track, and begins the track's descriptor. `number` is different for
// each track of a process.
static int open_track(struct Pftrace *pf, uint64_t number, unsigned field,
                      size_t from[2])
{
    pid_t pid = pf->base.trace->pid;
    uint64_t uuid = Pftrace_uuid(pf, number);
    int error = Pftrace_begin_track(pf, uuid);

    Pftrace_begin(pf, FLAG_NEEDS_STATE);
    from[0] = Protobuf_open(&pf->packet, PACKET_TRACK);
    Protobuf_add(&pf->packet, TRACK_UUID, uuid);
    from[1] = Protobuf_open(&pf->packet, field);
    Protobuf_add(&pf->packet, DESCRIPTOR_PID, (uint64_t)pid);
    return error;
}

static int close_track(struct Pftrace *pf, const size_t from[2])
{
    Protobuf_close(&pf->packet, from[1]);
    Protobuf_close(&pf->packet, from[0]);
    return Pftrace_end(pf);
}

// The track of the process itself has one instant with facts about the run.
static int write_head(struct TraceWriter *writer)
{
    const struct PerfettoTrace *trace = writer->trace;
    struct Pftrace *pf = (struct Pftrace *)writer;
    struct TraceFacts facts;
    size_t from[2], i;
    int error;

    // Each process starts a new sequence of packets, because each process
    // numbers its functions differently.
    Pftrace_end_sequence(pf);
    error = open_track(pf, 0, TRACK_PROCESS, from);
    Protobuf_add_text(&pf->packet, PROCESS_NAME,
                      trace->command ? trace->command : "python");
    if (!error)
        error = close_track(pf, from);
    if (error)
        return error;
    TraceWriter_facts(writer, &facts);
    begin_instant(pf, trace->view->first_ticks, "about this trace");
    for (i = 0; i < facts.count; i++)
        add_fact(&pf->packet, &facts.list[i]);
    return Pftrace_end_event(pf);
}

static int write_thread(struct TraceWriter *writer,
                        const struct TimelineThread *thread)
{
    struct Pftrace *pf = (struct Pftrace *)writer;
    size_t from[2];
    int error;

    pf->thread = (uint64_t)thread->number + 1;
    error = open_track(pf, pf->thread, TRACK_THREAD, from);
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
    .step = write_step,
    .task = PftraceOwnEvent_task,
    .loop = write_loop,
    .instant = write_instant,
    .gap = write_gap,
    .said = PftraceOwnEvent_said,
    .counter = PftraceOwnEvent_counter,
    .change = PftraceOwnEvent_change,
    .slice = PftraceOwnEvent_slice,
    .own = PftraceOwnEvent_own,
    .sample = PftraceOwnEvent_sample,
    .release = release,
};
