// SPDX-License-Identifier: MIT
// Makes events of the JSON file by json-c, one event at a time. The events for
// calls, loops and instants are made without json-c.
#pragma once

#include "formats/json_tree.h"
#include "formats/trace_writer.h"

// The first bytes of an event, up to the event's name. Each thread has its own
// prefixes, because they contain the thread's id.
struct Prefix {
    size_t size;
    char text[64];
};

struct JsonWriter {
    struct TraceWriter base;
    pid_t tid;
    struct Prefix begin; // For example ,\n{"ph":"B","pid":1,"tid":2,"name":
    struct Prefix end;
    struct Prefix mark;
    uint64_t nodes;     // Number of nodes so far in the tree of sampled stacks.
    uint64_t sample_us; // Time of the newest sample in us.
};

// Makes a JSON number of microseconds with three decimals. The functions of
// this file that return a JSON object return NULL if memory is out.
struct json_object *JsonEvent_micros(uint64_t ns);
// Returns the object as JSON text, which the object owns. If memory is out,
// `data` of the result is NULL.
struct EncodedPiece JsonEvent_print(struct json_object *object);

// Writes `before`, and then `object` if it is not NULL. JsonWriter_put takes
// ownership of `object`. Returns 0 or -errno.
int JsonWriter_put(struct JsonWriter *json, const char *before,
                   struct json_object *object);
// Makes an event with the members that all events have. `name` is copied. If
// `name` is NULL, the event has no name.
struct json_object *JsonEvent_new(const struct JsonWriter *json,
                                  const char *phase, const char *name);
// Writes the event and takes ownership of the event. Returns 0 or -errno.
int JsonEvent_put(struct JsonWriter *json, struct json_object *event);
