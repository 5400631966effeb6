// SPDX-License-Identifier: MIT
// Events of the JSON file that json-c makes, one at a time: all but calls,
// loops and instants about a function. json_trace.c's and json_aside.c's, on
// the writing thread.
#ifndef OCULAR_FORMATS_JSON_EVENT_H
#define OCULAR_FORMATS_JSON_EVENT_H

#include "formats/json_tree.h"
#include "formats/trace_writer.h"

// An event's beginning, up to its name. It differs by thread.
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
    uint64_t nodes;     // numbers given to stacks of samples
    uint64_t sample_us; // of the newest sample
};

// Values; NULL, as with all objects here: memory is out.
struct json_object *JsonEvent_number(uint64_t value);
// Microseconds, with the nanoseconds' digits.
struct json_object *JsonEvent_micros(uint64_t ns);
// Its text, which is the object's; NULL: memory.
struct EncodedPiece JsonEvent_print(struct json_object *object);

// Writes a text, then an object if there is one, which is owned. 0 or
// -errno.
int JsonWriter_put(struct JsonWriter *json, const char *before,
                   struct json_object *object);
// An event with the members that all events have; copies `name`.
struct json_object *JsonEvent_new(const struct JsonWriter *json,
                                  const char *phase, const char *name);
// Writes it; it is owned. 0 or -errno.
int JsonEvent_put(struct JsonWriter *json, struct json_object *event);

#endif
