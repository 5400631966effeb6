// SPDX-License-Identifier: MIT
// What the writers of JSON need of json-c. A tree that memory ran out for is
// NULL, and so is all that it was to be a part of: callers check at the end.
#ifndef OCULAR_TRACER_BASE_JSON_TREE_H
#define OCULAR_TRACER_BASE_JSON_TREE_H

#include <json-c/json.h>
#include <stddef.h>

#define JSON_TREE_TEXT 4096 // bytes of a text, with its NUL

// Adds an owned value under a constant key, which the object has not.
void JsonTree_add(struct json_object **object, const char *key,
                  struct json_object *value);
void JsonTree_append(struct json_object **array, struct json_object *value);
// Valid UTF-8, whatever it was; NULL is "".
struct json_object *JsonTree_text(const char *value);
// What so many bytes of JSON say; an empty object where that is none.
struct json_object *JsonTree_parse(const char *text, size_t size);

#endif
