// SPDX-License-Identifier: MIT
// The part of json-c that the writers of JSON use. If memory runs out for a
// tree, it is NULL, and so is every tree that it was to be a part of: callers
// check at the end.
#ifndef OCULAR_FORMATS_JSON_TREE_H
#define OCULAR_FORMATS_JSON_TREE_H

#include <json-c/json.h>
#include <stddef.h>

#define JSON_TREE_TEXT 4096 // bytes of a text, with its NUL

// Adds an owned value under a constant key, which the object has not.
void JsonTree_add(struct json_object **object, const char *key,
                  struct json_object *value);
void JsonTree_append(struct json_object **array, struct json_object *value);
// Made valid UTF-8; NULL is "".
struct json_object *JsonTree_text(const char *value);
// The JSON value of `size` bytes of text; an empty object if that is none.
struct json_object *JsonTree_parse(const char *text, size_t size);

#endif
