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
// name and the same parent as one track. `unit` is NULL if the track is not for
// a counter.
static int put_track(struct Pftrace *pf, uint64_t track, uint64_t parent,
                     const char *name, const char *unit)
{
    struct Bytes *out = &pf->packet;
    size_t from, inside;

    Pftrace_begin(pf, FLAG_NEEDS_STATE);
    from = Protobuf_open(out, PACKET_TRACK);
    Protobuf_add(out, TRACK_UUID, Pftrace_uuid(pf, track));
    Protobuf_add(out, TRACK_PARENT, Pftrace_uuid(pf, parent));
    Protobuf_add_text(out, TRACK_NAME, name);
    if (unit) {
        inside = Protobuf_open(out, TRACK_COUNTER);
        Protobuf_add_text(out, COUNTER_UNIT, unit);
        Protobuf_close(out, inside);
    }
    Protobuf_close(out, from);
    return Pftrace_end(pf);
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
    int error = mark->kind == EVENT_SPAN_BEGIN
                    ? put_track(pf, track, pf->thread, "spans", NULL)
                    : 0;

    if (error)
        return error;
    Pftrace_begin_event(pf, ticks, types[mark->kind]);
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
    return error ? error : Pftrace_end_event(pf);
}

// Adds a note with a text, or with a number if `text` is NULL.
static void add_note(struct Bytes *out, const char *key, const char *text,
                     uint64_t number)
{
    size_t note = Protobuf_open(out, TRACK_EVENT_NOTE);

    Protobuf_add_text(out, NOTE_NAME, key);
    if (text)
        Protobuf_add_text(out, NOTE_TEXT, text);
    else
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
    char name[MARK_NAME + 1];

    Pftrace_begin_event(pf, ticks, task ? TYPE_BEGIN : TYPE_END);
    if (task) {
        snprintf(name, sizeof name, "%.*s", (int)task->name_size, task->name);
        Protobuf_add_text(out, TRACK_EVENT_NAME, name);
        Protobuf_add_text(out, TRACK_EVENT_CATEGORY, "task");
        Protobuf_add_fixed(out, TRACK_EVENT_FLOW,
                           Pftrace_uuid(pf, task->number));
        add_note(out, "task", NULL, task->number);
    }
    return Pftrace_end_event(pf);
}

// --- Events of the collector thread ------------------------------------------

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
    uint64_t track = COUNTER_TRACK | (uint64_t)thread << 4 | counter->which;
    int error =
        is_new_track(pf, Trace_key(KEY_COUNTER, thread, counter->which));

    if (error > 0)
        error = put_track(pf, track, thread, counter->name, counter->unit);
    if (error)
        return error;
    Pftrace_begin_event_at(pf, ns, TYPE_COUNTER, track);
    Protobuf_add_real(&pf->packet, TRACK_EVENT_REAL, counter->value);
    return Pftrace_end_event(pf);
}

// Writes a change of an instruction's specialisation into the track of the
// process.
int PftraceOwnEvent_change(struct TraceWriter *writer, uint64_t ns,
                           const struct TraceChange *change)
{
    struct Pftrace *pf = (struct Pftrace *)writer;
    struct Bytes *out = &pf->packet;
    struct TraceName name;

    TraceWriter_name(writer, change->id, &name);
    Pftrace_begin_event_at(pf, ns, TYPE_INSTANT, 0);
    Protobuf_add_text(out, TRACK_EVENT_CATEGORY, "specialisation");
    Protobuf_add_text(out, TRACK_EVENT_NAME, change->name);
    add_note(out, "function", name.name, 0);
    add_note(out, "file", name.file, 0);
    if (change->line)
        add_note(out, "line", NULL, change->line);
    return Pftrace_end_event(pf);
}

static void add_flag(struct Bytes *out, const char *key)
{
    size_t note = Protobuf_open(out, TRACK_EVENT_NOTE);

    Protobuf_add_text(out, NOTE_NAME, key);
    Protobuf_add(out, NOTE_BOOL, 1);
    Protobuf_close(out, note);
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
    int error =
        is_new_track(pf, Trace_key(KEY_SLICE, slice->number, slice->kind));

    // A thread's track has the same number in pftrace.c and in
    // pftrace_own_event.c.
    if (error > 0)
        error =
            put_track(pf, track, slice->thread ? slice->thread->number + 1 : 0,
                      names[slice->kind], NULL);
    if (error)
        return error;
    Pftrace_begin_event_at(pf, slice->begin_ns, TYPE_BEGIN, track);
    Protobuf_add_text(out, TRACK_EVENT_CATEGORY, Trace_slice_word(slice->kind));
    Protobuf_add_text(out, TRACK_EVENT_NAME, slice->name);
    for (; note < slice->notes + TRACE_NOTES && note->key; note++)
        add_note(out, note->key, note->text, note->number);
    if (slice->begin_word)
        add_flag(out, slice->begin_word);
    error = Pftrace_end_event(pf);
    if (error)
        return error;
    Pftrace_begin_event_at(pf, slice->end_ns, TYPE_END, track);
    if (slice->end_word)
        add_flag(out, slice->end_word);
    return Pftrace_end_event(pf);
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
    size_t from, inside;
    int error;

    Pftrace_end_sequence(pf);
    error = Pftrace_begin_track(pf, Pftrace_uuid(pf, 0));
    if (error)
        return error;
    pf->frames = pf->stacks = 0;
    Pftrace_begin(pf, FLAG_NEEDS_STATE);
    from = Protobuf_open(out, PACKET_INTERNED);
    Pftrace_add_interned(out, INTERNED_PATH, MAPPING, "Python");
    inside = Protobuf_open(out, INTERNED_MAPPING);
    Protobuf_add(out, IID, MAPPING);
    Protobuf_add(out, MAPPING_PATH, MAPPING);
    Protobuf_close(out, inside);
    Protobuf_close(out, from);
    return Pftrace_end(pf);
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
    return Encoded_add_number(&pf->base.encoded, Trace_key(KEY_FRAME, id, 0),
                              number);
}

// Adds all frames of a sample's stack to the packet. Sets numbers[i] to the
// number of the i-th frame. Returns 0 or -ENOMEM.
static int add_frames(struct Pftrace *pf, const struct TimelineSample *sample,
                      uint64_t numbers[SAMPLE_TRACK_DEPTH])
{
    int error = 0;
    size_t i;

    for (i = 0; !error && i < sample->depth; i++) {
        numbers[i] = Encoded_find_number(
            &pf->base.encoded, Trace_key(KEY_FRAME, sample->path[i], 0));
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
    size_t from, inside, i;
    int error;

    for (i = 0; i < sample->depth; i++)
        key = Trace_stack_key(key, sample->path[i]);
    number = Encoded_find_number(&pf->base.encoded, key);
    if (number)
        return number;
    number = ++pf->stacks;
    Pftrace_begin(pf, FLAG_NEEDS_STATE);
    from = Protobuf_open(out, PACKET_INTERNED);
    error = add_frames(pf, sample, numbers);
    inside = Protobuf_open(out, INTERNED_STACK);
    Protobuf_add(out, IID, number);
    for (i = 0; i < sample->depth && !error; i++)
        Protobuf_add(out, STACK_FRAME, numbers[i]);
    Protobuf_close(out, inside);
    Protobuf_close(out, from);
    if (!error)
        error = Pftrace_end(pf);
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
    size_t from;
    int error;

    if (!sample->depth)
        return 0;
    stack = intern(pf, sample);
    if (!stack)
        return writer->error;
    Pftrace_begin_at(pf, ns);
    from = Protobuf_open(out, PACKET_SAMPLE);
    Protobuf_add(out, SAMPLE_PID, (uint64_t)writer->trace->pid);
    Protobuf_add(out, SAMPLE_TID, (uint64_t)sample->tid);
    Protobuf_add(out, SAMPLE_STACK, stack);
    Protobuf_add(out, SAMPLE_MODE, MODE_USER);
    Protobuf_close(out, from);
    error = Pftrace_end(pf);
    return error ? error : TraceWriter_count(writer);
}
