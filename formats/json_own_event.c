// SPDX-License-Identifier: MIT
#include "formats/json_own_event.h"
#include "formats/json_event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

// Makes an id that belongs to one process, because a file can have events of
// several processes.
static struct json_object *local_id(uint32_t number)
{
    struct json_object *id = json_object_new_object();
    char text[16];

    snprintf(text, sizeof text, "0x%x", (unsigned)number);
    JsonTree_add(&id, "local", JsonTree_text(text));
    return id;
}

// Spans are asynchronous events, because a span can begin in one call and end
// in another.
int JsonOwnEvent_said(struct TraceWriter *writer, uint64_t ticks,
                      const struct Mark *mark)
{
    static const char *const phases[] = {
        [EVENT_MARK] = "i", [EVENT_SPAN_BEGIN] = "b", [EVENT_SPAN_END] = "e"};
    struct JsonWriter *json = (struct JsonWriter *)writer;
    bool is_span = mark->kind != EVENT_MARK;
    char name[MARK_NAME + 1];
    struct json_object *event;

    snprintf(name, sizeof name, "%.*s", (int)mark->name_size, mark->name);
    event = JsonEvent_new(json, phases[mark->kind], name);
    JsonTree_add(&event, "ts", JsonEvent_micros(TraceWriter_ns(writer, ticks)));
    JsonTree_add(&event, "cat", JsonTree_text(is_span ? "span" : "mark"));
    if (is_span)
        JsonTree_add(&event, "id2", local_id(mark->number));
    else
        JsonTree_add(&event, "s", JsonTree_text("t"));
    if (mark->args_size)
        JsonTree_add(&event, "args",
                     JsonTree_parse(mark->args, mark->args_size));
    writer->last = ticks;
    return JsonEvent_put(json, event);
}

// Perfetto links two slices with the same bind_id if the earlier slice has
// flow_out and the later slice has flow_in. If the first slice of a task had
// flow_in, Perfetto would report an error, because no earlier slice has the
// same bind_id.
static int begin_task(struct JsonWriter *json, uint64_t ticks,
                      const struct Mark *task)
{
    uint64_t key = Trace_key(KEY_TASK, task->number, 0);
    bool again = Encoded_find_number(&json->base.encoded, key);
    struct json_object *args = json_object_new_object(), *event;
    char name[MARK_NAME + 1], id[32];

    if (!again && Encoded_add_number(&json->base.encoded, key, 1))
        return -ENOMEM;
    snprintf(name, sizeof name, "%.*s", (int)task->name_size, task->name);
    snprintf(id, sizeof id, "0x%x%08" PRIx32, (unsigned)json->base.trace->pid,
             task->number);
    event = JsonEvent_new(json, "B", name);
    JsonTree_add(&args, "task", json_object_new_uint64(task->number));
    JsonTree_add(&event, "cat", JsonTree_text("task"));
    JsonTree_add(&event, "ts",
                 JsonEvent_micros(TraceWriter_ns(&json->base, ticks)));
    JsonTree_add(&event, "bind_id", JsonTree_text(id));
    JsonTree_add(&event, "flow_out", json_object_new_boolean(true));
    if (again)
        JsonTree_add(&event, "flow_in", json_object_new_boolean(true));
    JsonTree_add(&event, "args", args);
    return JsonEvent_put(json, event);
}

// The event at the end of a slice needs no name, because it ends the innermost
// slice.
int JsonOwnEvent_task(struct TraceWriter *writer, uint64_t ticks,
                      const struct Mark *task)
{
    struct JsonWriter *json = (struct JsonWriter *)writer;
    struct json_object *event;

    writer->last = ticks;
    if (task)
        return begin_task(json, ticks, task);
    event = JsonEvent_new(json, "E", NULL);
    JsonTree_add(&event, "ts", JsonEvent_micros(TraceWriter_ns(writer, ticks)));
    return JsonEvent_put(json, event);
}

static int put_own_event(struct JsonWriter *json, struct json_object *event,
                         uint64_t ns, struct json_object *args)
{
    JsonTree_add(&event, "ts", JsonEvent_micros(ns));
    if (args && !json_object_object_length(args))
        json_object_put(args);
    else
        JsonTree_add(&event, "args", args);
    return JsonEvent_put(json, event);
}

// In Perfetto a counter belongs to the process. The name of a counter for a
// thread therefore contains the thread's name and id.
int JsonOwnEvent_counter(struct TraceWriter *writer, uint64_t ns,
                         const struct TraceCounter *counter)
{
    struct JsonWriter *json = (struct JsonWriter *)writer;
    struct json_object *args = json_object_new_object();
    const struct TimelineThread *thread = counter->thread;
    char name[128];

    if (thread)
        snprintf(name, sizeof name, "%s of %s (%d)", counter->name,
                 thread->name, (int)thread->tid);
    else
        snprintf(name, sizeof name, "%s", counter->name);
    JsonTree_add(&args, counter->unit, json_object_new_double(counter->value));
    return put_own_event(json, JsonEvent_new(json, "C", name), ns, args);
}

int JsonOwnEvent_change(struct TraceWriter *writer, uint64_t ns,
                        const struct TraceChange *change)
{
    struct JsonWriter *json = (struct JsonWriter *)writer;
    struct json_object *args = json_object_new_object();
    struct json_object *event = JsonEvent_new(json, "i", change->name);
    struct TraceName name;

    TraceWriter_name(writer, change->id, &name);
    JsonTree_add(&event, "cat", JsonTree_text("specialisation"));
    JsonTree_add(&event, "s", JsonTree_text("p"));
    JsonTree_add(&args, "function", JsonTree_text(name.name));
    JsonTree_add(&args, "file", JsonTree_text(name.file));
    if (change->line)
        JsonTree_add(&args, "line", json_object_new_uint64(change->line));
    return put_own_event(json, event, ns, args);
}

// Writes the end of a slice if `end` is true, otherwise the beginning.
static int put_slice(struct JsonWriter *json, const struct TraceSlice *slice,
                     bool end)
{
    struct json_object *event =
        JsonEvent_new(json, end ? "e" : "b", slice->name);
    struct json_object *args = json_object_new_object();
    const char *word = end ? slice->end_word : slice->begin_word;
    const struct TraceNote *note = slice->notes;

    JsonTree_add(&event, "cat", JsonTree_text(Trace_slice_word(slice->kind)));
    JsonTree_add(&event, "id2", local_id(slice->number));
    if (slice->thread && !end)
        JsonTree_add(&args, "thread", JsonTree_text(slice->thread->name));
    for (; !end && note < slice->notes + TRACE_NOTES && note->key; note++)
        JsonTree_add(&args, note->key,
                     note->text ? JsonTree_text(note->text)
                                : json_object_new_uint64(note->number));
    if (word)
        JsonTree_add(&args, word, json_object_new_boolean(true));
    return put_own_event(json, event, end ? slice->end_ns : slice->begin_ns,
                         args);
}

// Slices overlap with calls and with each other, so they are asynchronous
// events.
int JsonOwnEvent_slice(struct TraceWriter *writer,
                       const struct TraceSlice *slice)
{
    struct JsonWriter *json = (struct JsonWriter *)writer;
    int error = put_slice(json, slice, false);

    return error ? error : put_slice(json, slice, true);
}

// --- Samples
// Samples are written in the form of V8's CPU profiles, which Perfetto reads.
// The stacks of all samples form a tree of nodes. Each node of the tree is
// written once, before the first sample whose stack ends at this node. A sample
// is written as the number of its node and the microseconds since the sample
// before.

// Writes a profile event with the arguments `data` and takes ownership of
// `data`. Returns 0 or -errno.
static int put_profile(struct JsonWriter *json, pid_t tid, uint64_t ns,
                       const char *name, struct json_object *data)
{
    struct json_object *args = json_object_new_object(), *event;

    json->tid = tid;
    event = JsonEvent_new(json, "P", name);
    // From here on, the events belong to the process, not to a thread.
    json->tid = json->base.trace->pid;
    // Two profiles of one process would need different ids, but this process
    // has only one profile.
    JsonTree_add(&event, "id", JsonTree_text("0x1"));
    JsonTree_add(&event, "ts", JsonEvent_micros(ns));
    JsonTree_add(&args, "data", data);
    JsonTree_add(&event, "args", args);
    return JsonEvent_put(json, event);
}

int JsonOwnEvent_own(struct TraceWriter *writer)
{
    struct json_object *data = json_object_new_object();

    JsonTree_add(&data, "startTime", json_object_new_uint64(0));
    return put_profile((struct JsonWriter *)writer, writer->trace->pid, 0,
                       "Profile", data);
}

static struct json_object *new_node(const struct JsonWriter *json,
                                    uint64_t number, uint64_t parent,
                                    uint32_t id)
{
    struct json_object *node = json_object_new_object();
    struct json_object *frame = json_object_new_object();
    char label[TRACE_FRAME];

    TraceWriter_frame(&json->base, id, label);
    JsonTree_add(&frame, "functionName", JsonTree_text(label));
    JsonTree_add(&node, "id", json_object_new_uint64(number));
    if (parent)
        JsonTree_add(&node, "parent", json_object_new_uint64(parent));
    JsonTree_add(&node, "callFrame", frame);
    return node;
}

// Returns the number of the node at which a sample's stack ends, or 0 if memory
// is out. Appends those frames of the stack to *nodes that have no node in the
// file yet.
static uint64_t find_node(struct JsonWriter *json,
                          const struct TimelineSample *sample,
                          struct json_object **nodes)
{
    uint64_t key = TRACE_STACK_KEY, number = 0, parent;
    size_t i;

    for (i = 0; i < sample->depth; i++) {
        key = Trace_stack_key(key, sample->path[i]);
        parent = number;
        number = Encoded_find_number(&json->base.encoded, key);
        if (number)
            continue;
        number = ++json->nodes;
        JsonTree_append(nodes, new_node(json, number, parent, sample->path[i]));
        if (Encoded_add_number(&json->base.encoded, key, number))
            return 0;
    }
    return number;
}

// If no traced function was found on the stack, the sample has no stack and is
// not written.
int JsonOwnEvent_sample(struct TraceWriter *writer, uint64_t ns,
                        const struct TimelineSample *sample)
{
    struct JsonWriter *json = (struct JsonWriter *)writer;
    struct json_object *nodes, *ends, *deltas, *profile, *data;
    int64_t delta = (int64_t)(ns / 1000 - json->sample_us);
    uint64_t node;

    if (!sample->depth)
        return 0;
    nodes = json_object_new_array();
    node = find_node(json, sample, &nodes);
    if (!node) {
        json_object_put(nodes);
        return -ENOMEM;
    }
    json->sample_us = ns / 1000;
    ends = json_object_new_array();
    deltas = json_object_new_array();
    profile = json_object_new_object();
    data = json_object_new_object();
    JsonTree_append(&ends, json_object_new_uint64(node));
    JsonTree_append(&deltas, json_object_new_int64(delta));
    JsonTree_add(&profile, "nodes", nodes);
    JsonTree_add(&profile, "samples", ends);
    JsonTree_add(&data, "cpuProfile", profile);
    JsonTree_add(&data, "timeDeltas", deltas);
    return put_profile(json, sample->tid, ns, "ProfileChunk", data);
}
