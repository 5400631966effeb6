// SPDX-License-Identifier: MIT
// See pftrace_aside.h.
#include "tracer/timeline/pftrace_aside.h"
#include "tracer/base/json_tree.h"
#include "tracer/timeline/pftrace_packet.h"

#include <errno.h>
#include <stdio.h>

// Numbers of tracks in the process; threads have smaller ones.
#define SPAN_TRACK (UINT64_C(1) << 31)
#define COUNTER_TRACK (UINT64_C(1) << 30)

// --- What the program says ---------------------------------------------------

static void add_argument(struct Bytes *out, const char *key,
                         struct json_object *value)
{
    size_t note = Protobuf_open(out, TRACK_EVENT_NOTE);

    Protobuf_add_text(out, NOTE_NAME, key);
    if (json_object_is_type(value, json_type_string))
        Protobuf_add_text(out, NOTE_TEXT, json_object_get_string(value));
    else if (json_object_is_type(value, json_type_boolean))
        Protobuf_add(out, NOTE_BOOL, (uint64_t)json_object_get_boolean(value));
    else if (json_object_is_type(value, json_type_int))
        Protobuf_add(out, NOTE_INT, (uint64_t)json_object_get_int64(value));
    else if (json_object_is_type(value, json_type_double))
        Protobuf_add_real(out, NOTE_REAL, json_object_get_double(value));
    else
        Protobuf_add_text(
            out, NOTE_JSON,
            json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN));
    Protobuf_close(out, note);
}

static int add_arguments(struct Bytes *out, const struct Mark *mark)
{
    struct json_object *args;

    if (!mark->args_size)
        return 0;
    args = JsonTree_parse(mark->args, mark->args_size);
    if (!args)
        return -ENOMEM;
    json_object_object_foreach(args, key, value)
    {
        add_argument(out, key, value);
    }
    json_object_put(args);
    return 0;
}

// Spans may overlap, and slices of one track must nest: each has a track.
static int put_span_track(struct Pftrace *pf, uint64_t track)
{
    struct Bytes *out = &pf->packet;
    size_t packet = Pftrace_begin(pf, FLAG_NEEDS_STATE);
    size_t from = Protobuf_open(out, PACKET_TRACK);

    Protobuf_add(out, TRACK_UUID, Pftrace_uuid(pf, track));
    Protobuf_add(out, TRACK_PARENT, Pftrace_uuid(pf, pf->thread));
    Protobuf_add_text(out, TRACK_NAME, "spans");
    Protobuf_close(out, from);
    return Pftrace_end(pf, packet);
}

int PftraceAside_said(struct TraceWriter *writer, uint64_t ticks,
                      const struct Mark *mark)
{
    static const unsigned types[] = {
        [EVENT_MARK] = TYPE_INSTANT,
        [EVENT_SPAN_BEGIN] = TYPE_BEGIN,
        [EVENT_SPAN_END] = TYPE_END,
    };
    struct Pftrace *pf = (struct Pftrace *)writer;
    struct Bytes *out = &pf->packet;
    uint64_t track = SPAN_TRACK | mark->number;
    size_t packet, event;
    int error = mark->kind == EVENT_SPAN_BEGIN ? put_span_track(pf, track) : 0;

    if (error)
        return error;
    writer->last = ticks;
    packet = Pftrace_begin(pf, FLAG_NEEDS_STATE);
    Protobuf_add(out, PACKET_TIME, Pftrace_take_time(pf, ticks));
    event = Protobuf_open(out, PACKET_EVENT);
    Protobuf_add(out, TRACK_EVENT_TYPE, types[mark->kind]);
    if (mark->kind != EVENT_MARK)
        Protobuf_add(out, TRACK_EVENT_TRACK, Pftrace_uuid(pf, track));
    if (mark->kind != EVENT_SPAN_END) {
        char name[MARK_NAME + 1];

        snprintf(name, sizeof name, "%.*s", (int)mark->name_size, mark->name);
        Protobuf_add_text(out, TRACK_EVENT_NAME, name);
        Protobuf_add_text(out, TRACK_EVENT_CATEGORY,
                          mark->kind == EVENT_MARK ? "mark" : "span");
        error = add_arguments(out, mark);
    }
    Protobuf_close(out, event);
    if (!error)
        error = Pftrace_end(pf, packet);
    return error ? error : TraceWriter_count(writer);
}

// --- What the collector saw --------------------------------------------------

static int end_aside(struct Pftrace *pf, size_t event, size_t packet)
{
    int error;

    Protobuf_close(&pf->packet, event);
    error = Pftrace_end(pf, packet);
    return error ? error : TraceWriter_count(&pf->base);
}

static int put_counter_track(struct Pftrace *pf, uint64_t uuid, uint64_t parent,
                             const struct TraceCounter *counter)
{
    struct Bytes *out = &pf->packet;
    size_t packet = Pftrace_begin(pf, FLAG_NEEDS_STATE);
    size_t from = Protobuf_open(out, PACKET_TRACK), inside;

    Protobuf_add(out, TRACK_UUID, uuid);
    Protobuf_add(out, TRACK_PARENT, parent);
    Protobuf_add_text(out, TRACK_NAME, counter->name);
    inside = Protobuf_open(out, TRACK_COUNTER);
    Protobuf_add_text(out, COUNTER_UNIT, counter->unit);
    Protobuf_close(out, inside);
    Protobuf_close(out, from);
    return Pftrace_end(pf, packet);
}

// Describes its track, the first time.
static int know_counter(struct Pftrace *pf, uint64_t uuid, uint32_t thread,
                        const struct TraceCounter *counter)
{
    const struct EncodedPiece known = {"", 1}, none = {NULL, 0};
    uint64_t key = Trace_counter_key(thread, counter->which);

    if (Encoded_find(&pf->base.encoded, key))
        return 0;
    if (!Encoded_add(&pf->base.encoded, key, known, none))
        return -ENOMEM;
    return put_counter_track(pf, uuid, Pftrace_uuid(pf, thread), counter);
}

int PftraceAside_counter(struct TraceWriter *writer, uint64_t ns,
                         const struct TraceCounter *counter)
{
    struct Pftrace *pf = (struct Pftrace *)writer;
    // A thread's track, as pftrace.c numbers it; 0: the process's.
    uint32_t thread = counter->thread ? counter->thread->number + 1 : 0;
    uint64_t uuid = Pftrace_uuid(pf, COUNTER_TRACK | (uint64_t)thread << 4 |
                                         counter->which);
    size_t packet, event;
    int error = know_counter(pf, uuid, thread, counter);

    if (error)
        return error;
    packet = Pftrace_begin_at(pf, ns);
    event = Protobuf_open(&pf->packet, PACKET_EVENT);
    Protobuf_add(&pf->packet, TRACK_EVENT_TYPE, TYPE_COUNTER);
    Protobuf_add(&pf->packet, TRACK_EVENT_TRACK, uuid);
    Protobuf_add_real(&pf->packet, TRACK_EVENT_REAL, counter->value);
    return end_aside(pf, event, packet);
}

static void add_text_note(struct Bytes *out, const char *key, const char *text)
{
    size_t note = Protobuf_open(out, TRACK_EVENT_NOTE);

    Protobuf_add_text(out, NOTE_NAME, key);
    Protobuf_add_text(out, NOTE_TEXT, text);
    Protobuf_close(out, note);
}

// On the process's track.
int PftraceAside_change(struct TraceWriter *writer, uint64_t ns,
                        const struct TraceChange *change)
{
    struct Pftrace *pf = (struct Pftrace *)writer;
    struct Bytes *out = &pf->packet;
    size_t packet = Pftrace_begin_at(pf, ns), event, note;
    struct TraceName name;

    TraceWriter_name(writer, change->id, &name);
    event = Protobuf_open(out, PACKET_EVENT);
    Protobuf_add(out, TRACK_EVENT_TYPE, TYPE_INSTANT);
    Protobuf_add(out, TRACK_EVENT_TRACK, Pftrace_uuid(pf, 0));
    Protobuf_add_text(out, TRACK_EVENT_CATEGORY, "specialisation");
    Protobuf_add_text(out, TRACK_EVENT_NAME, change->name);
    add_text_note(out, "function", name.name);
    add_text_note(out, "file", name.file);
    if (change->line) {
        note = Protobuf_open(out, TRACK_EVENT_NOTE);
        Protobuf_add_text(out, NOTE_NAME, "line");
        Protobuf_add(out, NOTE_NUMBER, change->line);
        Protobuf_close(out, note);
    }
    return end_aside(pf, event, packet);
}
