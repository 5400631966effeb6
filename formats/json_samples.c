// SPDX-License-Identifier: MIT
// See json_samples.h. Samples are written in the form of V8's CPU profiles,
// which Perfetto reads. The stacks of all samples form a tree of nodes. Each
// node of the tree is written once, before the first sample whose stack ends at
// this node. A sample is written as the number of its node and the microseconds
// since the sample before.
#include "formats/json_samples.h"
#include "formats/json_event.h"

#include <errno.h>

// Writes a profile event with the arguments `data` and takes ownership of
// `data`. Returns 0 or -errno.
static int put_profile(struct JsonWriter *json, pid_t tid, uint64_t ns,
                       const char *name, struct json_object *data)
{
    struct json_object *args = json_object_new_object(), *event;

    json->tid = tid;
    event = JsonEvent_new(json, "P", name);
    // The events after this line belong to the process, not to a thread.
    json->tid = json->base.trace->pid;
    // Two profiles of one process would need different ids, but this process
    // has only one profile.
    JsonTree_add(&event, "id", JsonTree_text("0x1"));
    JsonTree_add(&event, "ts", JsonEvent_micros(ns));
    JsonTree_add(&args, "data", data);
    JsonTree_add(&event, "args", args);
    return JsonEvent_put(json, event);
}

int JsonSamples_begin(struct TraceWriter *writer)
{
    struct json_object *data = json_object_new_object();

    JsonTree_add(&data, "startTime", JsonEvent_number(0));
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
    JsonTree_add(&node, "id", JsonEvent_number(number));
    if (parent)
        JsonTree_add(&node, "parent", JsonEvent_number(parent));
    JsonTree_add(&node, "callFrame", frame);
    return node;
}

// Returns the number of the node at which a sample's stack ends, or 0 if memory
// is out. Adds the frames whose nodes are not in the file yet to *nodes.
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

// A sample that found no traced function has no stack and is not written.
int JsonSamples_put(struct TraceWriter *writer, uint64_t ns,
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
    JsonTree_append(&ends, JsonEvent_number(node));
    JsonTree_append(&deltas, json_object_new_int64(delta));
    JsonTree_add(&profile, "nodes", nodes);
    JsonTree_add(&profile, "samples", ends);
    JsonTree_add(&data, "cpuProfile", profile);
    JsonTree_add(&data, "timeDeltas", deltas);
    return put_profile(json, sample->tid, ns, "ProfileChunk", data);
}
