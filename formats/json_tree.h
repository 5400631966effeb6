// SPDX-License-Identifier: MIT
// Wraps those functions of json-c that the writers of JSON use. If memory runs
// out, a JSON tree becomes NULL, and so does each tree to which it should have
// been added, so that a caller only has to check the outermost tree.
#pragma once

#include <json-c/json.h>
#include <stddef.h>

// Largest number of bytes of a text, with the terminating NUL.
#define JSON_TREE_TEXT 4096

// Adds `value` to the object under `key`, and takes ownership of `value`. `key`
// must be a constant that is not in the object yet.
void JsonTree_add(struct json_object **object, const char *key,
                  struct json_object *value);
void JsonTree_append(struct json_object **array, struct json_object *value);
// Makes a JSON string of valid UTF-8. If `value` is NULL, the string is empty.
struct json_object *JsonTree_text(const char *value);
// Parses the text of `size` bytes as a JSON object. Returns an empty object if
// the text is no JSON object.
struct json_object *JsonTree_parse(const char *text, size_t size);
