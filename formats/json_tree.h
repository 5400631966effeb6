// SPDX-License-Identifier: MIT
// Wraps the part of json-c that the writers of JSON use. If memory runs out for
// a tree, the tree is NULL, and each tree that should contain this tree is also
// NULL. So callers check once, at the end.
#ifndef OCULAR_FORMATS_JSON_TREE_H
#define OCULAR_FORMATS_JSON_TREE_H

#include <json-c/json.h>
#include <stddef.h>

#define JSON_TREE_TEXT 4096 // maximum number of bytes of a text with its NUL

// Adds `value` under `key` and takes ownership of `value`. The key must be a
// constant and new in the object.
void JsonTree_add(struct json_object **object, const char *key,
                  struct json_object *value);
void JsonTree_append(struct json_object **array, struct json_object *value);
// Makes a text of valid UTF-8. NULL gives an empty text.
struct json_object *JsonTree_text(const char *value);
// Parses `size` bytes of text as a JSON object. Returns an empty object if the
// text is not an object.
struct json_object *JsonTree_parse(const char *text, size_t size);

#endif
