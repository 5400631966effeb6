// SPDX-License-Identifier: MIT
#include "formats/pftrace_own_event.h"
#include "formats/json_tree.h"
#include "formats/pftrace_packet.h"

#include <errno.h>
#include <stdio.h>

// Each track of a process has a different number. Tracks of threads have
// numbers below SPAN_TRACK.
#define SPAN_TRACK (UINT64_C(1) << 31)
#define COUNTER_TRACK (UINT64_C(1) << 30)
// The low 32 bits of the number of a slice's track are the number of the slice.
#define SLICE_TRACK(kind) (UINT64_C(1) << (63 - (kind)))

// --- Events of the program ---------------------------------------------------

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

// The slices of one track must be nested. If slices of a kind can overlap, each
// of them therefore gets its own track. Perfetto shows tracks with the same
// name and the same parent as one track.
static int put_track(struct Pftrace *pf, uint64_t track, uint64_t parent,
                     const char *name)
{
    struct Bytes *out = &pf->packet;
    size_t packet = Pftrace_begin(pf, FLAG_NEEDS_STATE);
    size_t from = Protobuf_open(out, PACKET_TRACK);

    Protobuf_add(out, TRACK_UUID, Pftrace_uuid(pf, track));
    Protobuf_add(out, TRACK_PARENT, Pftrace_uuid(pf, parent));
    Protobuf_add_text(out, TRACK_NAME, name);
    Protobuf_close(out, from);
    return Pftrace_end(pf, packet);
}

int PftraceOwnEvent_said(struct TraceWriter *writer, uint64_t ticks,
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
    int error = mark->kind == EVENT_SPAN_BEGIN
                    ? put_track(pf, track, pf->thread, "spans")
                    : 0;

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

static void add_number_note(struct Bytes *out, const char *key, uint64_t number)
{
    size_t note = Protobuf_open(out, TRACK_EVENT_NOTE);

    Protobuf_add_text(out, NOTE_NAME, key);
    Protobuf_add(out, NOTE_NUMBER, number);
    Protobuf_close(out, note);
}

// A step of a task is a slice in the track of the thread. Perfetto links the
// slices of one flow in the order of their times.
int PftraceOwnEvent_task(struct TraceWriter *writer, uint64_t ticks,
                         const struct Mark *task)
{
    struct Pftrace *pf = (struct Pftrace *)writer;
    struct Bytes *out = &pf->packet;
    size_t packet = Pftrace_begin(pf, FLAG_NEEDS_STATE), event;
    char name[MARK_NAME + 1];
    int error;

    writer->last = ticks;
    Protobuf_add(out, PACKET_TIME, Pftrace_take_time(pf, ticks));
    event = Protobuf_open(out, PACKET_EVENT);
    Protobuf_add(out, TRACK_EVENT_TYPE, task ? TYPE_BEGIN : TYPE_END);
    if (task) {
        snprintf(name, sizeof name, "%.*s", (int)task->name_size, task->name);
        Protobuf_add_text(out, TRACK_EVENT_NAME, name);
        Protobuf_add_text(out, TRACK_EVENT_CATEGORY, "task");
        Protobuf_add_fixed(out, TRACK_EVENT_FLOW,
                           Pftrace_uuid(pf, task->number));
        add_number_note(out, "task", task->number);
    }
    Protobuf_close(out, event);
    error = Pftrace_end(pf, packet);
    return error ? error : TraceWriter_count(writer);
}

// --- Events of the collector thread ------------------------------------------

static int end_own_event(struct Pftrace *pf, size_t event, size_t packet)
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

// Returns 1 if the track with this key is not in the file yet, 0 if it is, or
// -ENOMEM.
static int is_new_track(struct Pftrace *pf, uint64_t key)
{
    if (Encoded_find_number(&pf->base.encoded, key))
        return 0;
    return Encoded_add_number(&pf->base.encoded, key, 1) ? -ENOMEM : 1;
}

int PftraceOwnEvent_counter(struct TraceWriter *writer, uint64_t ns,
                            const struct TraceCounter *counter)
{
    struct Pftrace *pf = (struct Pftrace *)writer;
    // A thread's track has the same number in pftrace.c and in
    // pftrace_own_event.c. The track of the process has the number 0.
    uint32_t thread = counter->thread ? counter->thread->number + 1 : 0;
    uint64_t uuid = Pftrace_uuid(pf, COUNTER_TRACK | (uint64_t)thread << 4 |
                                         counter->which);
    size_t packet, event;
    int error = is_new_track(pf, Trace_counter_key(thread, counter->which));

    if (error > 0)
        error = put_counter_track(pf, uuid, Pftrace_uuid(pf, thread), counter);
    if (error)
        return error;
    packet = Pftrace_begin_at(pf, ns);
    event = Protobuf_open(&pf->packet, PACKET_EVENT);
    Protobuf_add(&pf->packet, TRACK_EVENT_TYPE, TYPE_COUNTER);
    Protobuf_add(&pf->packet, TRACK_EVENT_TRACK, uuid);
    Protobuf_add_real(&pf->packet, TRACK_EVENT_REAL, counter->value);
    return end_own_event(pf, event, packet);
}

static void add_text_note(struct Bytes *out, const char *key, const char *text)
{
    size_t note = Protobuf_open(out, TRACK_EVENT_NOTE);

    Protobuf_add_text(out, NOTE_NAME, key);
    Protobuf_add_text(out, NOTE_TEXT, text);
    Protobuf_close(out, note);
}

// Writes a change of an instruction's specialisation into the track of the
// process.
int PftraceOwnEvent_change(struct TraceWriter *writer, uint64_t ns,
                           const struct TraceChange *change)
{
    struct Pftrace *pf = (struct Pftrace *)writer;
    struct Bytes *out = &pf->packet;
    size_t packet = Pftrace_begin_at(pf, ns), event;
    struct TraceName name;

    TraceWriter_name(writer, change->id, &name);
    event = Protobuf_open(out, PACKET_EVENT);
    Protobuf_add(out, TRACK_EVENT_TYPE, TYPE_INSTANT);
    Protobuf_add(out, TRACK_EVENT_TRACK, Pftrace_uuid(pf, 0));
    Protobuf_add_text(out, TRACK_EVENT_CATEGORY, "specialisation");
    Protobuf_add_text(out, TRACK_EVENT_NAME, change->name);
    add_text_note(out, "function", name.name);
    add_text_note(out, "file", name.file);
    if (change->line)
        add_number_note(out, "line", change->line);
    return end_own_event(pf, event, packet);
}

static void add_flag(struct Bytes *out, const char *key)
{
    size_t note = Protobuf_open(out, TRACK_EVENT_NOTE);

    Protobuf_add_text(out, NOTE_NAME, key);
    Protobuf_add(out, NOTE_BOOL, 1);
    Protobuf_close(out, note);
}

// Begins the packet of an event for the track of Ocular's own threads. Returns
// the offset of the event in the packet.
static size_t begin_event(struct Pftrace *pf, uint64_t ns, unsigned type,
                          uint64_t track, size_t *packet)
{
    size_t event;

    *packet = Pftrace_begin_at(pf, ns);
    event = Protobuf_open(&pf->packet, PACKET_EVENT);
    Protobuf_add(&pf->packet, TRACK_EVENT_TYPE, type);
    Protobuf_add(&pf->packet, TRACK_EVENT_TRACK, Pftrace_uuid(pf, track));
    return event;
}

int PftraceOwnEvent_slice(struct TraceWriter *writer,
                          const struct TraceSlice *slice)
{
    static const char *const names[SLICE_KINDS] = {"dark functions",
                                                   "waits (sampled)", "stalls"};
    struct Pftrace *pf = (struct Pftrace *)writer;
    struct Bytes *out = &pf->packet;
    uint64_t track = SLICE_TRACK(slice->kind) | slice->number;
    const struct TraceNote *note = slice->notes;
    size_t packet, event;
    int error = is_new_track(pf, Trace_slice_key(slice->kind, slice->number));

    // A thread's track has the same number in pftrace.c and in
    // pftrace_own_event.c.
    if (error > 0)
        error =
            put_track(pf, track, slice->thread ? slice->thread->number + 1 : 0,
                      names[slice->kind]);
    if (error)
        return error;
    event = begin_event(pf, slice->begin_ns, TYPE_BEGIN, track, &packet);
    Protobuf_add_text(out, TRACK_EVENT_CATEGORY, Trace_slice_word(slice->kind));
    Protobuf_add_text(out, TRACK_EVENT_NAME, slice->name);
    for (; note < slice->notes + TRACE_NOTES && note->key; note++)
        if (note->text)
            add_text_note(out, note->key, note->text);
        else
            add_number_note(out, note->key, note->number);
    if (slice->begin_word)
        add_flag(out, slice->begin_word);
    error = end_own_event(pf, event, packet);
    if (error)
        return error;
    event = begin_event(pf, slice->end_ns, TYPE_END, track, &packet);
    if (slice->end_word)
        add_flag(out, slice->end_word);
    return end_own_event(pf, event, packet);
}

// --- Samples
// Each frame of a stack and each stack is written once. After that, a sample
// consists of a thread and the number of its stack.

// Perfetto needs for each frame the mapped file from which the frame's code
// comes. All frames therefore refer to one file, whose number is MAPPING.
#define MAPPING 1

int PftraceOwnEvent_own(struct TraceWriter *writer)
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

// If no traced function was found on the stack, the sample has no stack and is
// not written.
int PftraceOwnEvent_sample(struct TraceWriter *writer, uint64_t ns,
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
