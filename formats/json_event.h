// SPDX-License-Identifier: MIT
// Makes events of the JSON file by json-c, one at a time. Calls, loops and
// instants of functions are made otherwise. json_trace.c and json_aside.c call
// these functions on the writing thread.
#ifndef OCULAR_FORMATS_JSON_EVENT_H
#define OCULAR_FORMATS_JSON_EVENT_H

#include "formats/json_tree.h"
#include "formats/trace_writer.h"

// Holds the beginning of an event, up to the event's name. The beginning is
// different for each thread.
struct Prefix {
    size_t size;
    char text[64];
};

struct JsonWriter {
    struct TraceWriter base;
    pid_t tid;
    struct Prefix begin; // ,\n{"ph":"B","pid":1,"tid":2,"name":
    struct Prefix end;
    struct Prefix mark;
    uint64_t nodes;     // number of nodes that stacks of samples have
    uint64_t sample_us; // time of the newest sample
};

// Makes a number. All functions here return NULL if memory is out.
struct json_object *JsonEvent_number(uint64_t value);
// Makes a time in microseconds with three decimals.
struct json_object *JsonEvent_micros(uint64_t ns);
// Returns the object's text, which the object owns. The data of the result is
// NULL if memory is out.
struct EncodedPiece JsonEvent_print(struct json_object *object);

// Writes `before`, and then `object` unless `object` is NULL. Takes ownership
// of the object. Returns 0 or -errno.
int JsonWriter_put(struct JsonWriter *json, const char *before,
                   struct json_object *object);
// Makes an event with the members that all events have; copies `name`.
struct json_object *JsonEvent_new(const struct JsonWriter *json,
                                  const char *phase, const char *name);
// Writes the event and takes ownership of it. Returns 0 or -errno.
int JsonEvent_put(struct JsonWriter *json, struct json_object *event);

#endif
