// SPDX-License-Identifier: MIT
#include "formats/json_event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct json_object *JsonEvent_micros(uint64_t ns)
{
    char digits[32];

    snprintf(digits, sizeof digits, "%" PRIu64 ".%03u", ns / 1000,
             (unsigned)(ns % 1000));
    return json_object_new_double_s((double)ns / 1000, digits);
}

struct EncodedPiece JsonEvent_print(struct json_object *object)
{
    struct EncodedPiece piece = {NULL, 0};

    if (object)
        piece.data = json_object_to_json_string_length(
            object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE,
            &piece.size);
    return piece;
}

int JsonWriter_put(struct JsonWriter *json, const char *before,
                   struct json_object *object)
{
    struct EncodedPiece piece = JsonEvent_print(object);
    int error = object && !piece.data ? -ENOMEM : 0;

    if (!error)
        error = TraceWriter_put(&json->base, before, strlen(before));
    if (!error)
        error = TraceWriter_put(&json->base, piece.data, piece.size);
    json_object_put(object);
    return error;
}

struct json_object *JsonEvent_new(const struct JsonWriter *json,
                                  const char *phase, const char *name)
{
    struct json_object *event = json_object_new_object();

    JsonTree_add(&event, "ph", json_object_new_string(phase));
    JsonTree_add(&event, "pid", json_object_new_int64(json->base.trace->pid));
    JsonTree_add(&event, "tid", json_object_new_int64(json->tid));
    if (name)
        JsonTree_add(&event, "name", JsonTree_text(name));
    return event;
}

int JsonEvent_put(struct JsonWriter *json, struct json_object *event)
{
    int error =
        event ? JsonWriter_put(json, json->base.events ? ",\n" : "\n", event)
              : -ENOMEM;

    return error ? error : TraceWriter_count(&json->base);
}
