// SPDX-License-Identifier: MIT
#include "formats/json_tree.h"
#include "tracer/base/harmless.h"

static void drop(struct json_object **object, struct json_object *value)
{
    json_object_put(value);
    json_object_put(*object);
    *object = NULL;
}

void JsonTree_add(struct json_object **object, const char *key,
                  struct json_object *value)
{
    unsigned how =
        JSON_C_OBJECT_ADD_KEY_IS_NEW | JSON_C_OBJECT_ADD_CONSTANT_KEY;

    if (!*object || !value ||
        json_object_object_add_ex(*object, key, value, how) != 0)
        drop(object, value);
}

void JsonTree_append(struct json_object **array, struct json_object *value)
{
    if (!*array || !value || json_object_array_add(*array, value) != 0)
        drop(array, value);
}

struct json_object *JsonTree_text(const char *value)
{
    char clean[JSON_TREE_TEXT];
    size_t length =
        Harmless_clean(clean, sizeof clean, value ? value : "", false);

    return json_object_new_string_len(clean, (int)length);
}

struct json_object *JsonTree_parse(const char *text, size_t size)
{
    struct json_tokener *tokener = json_tokener_new();
    struct json_object *object = NULL;

    if (!tokener)
        return NULL;
    if (size)
        object = json_tokener_parse_ex(tokener, text, (int)size);
    json_tokener_free(tokener);
    if (object && json_object_is_type(object, json_type_object))
        return object;
    json_object_put(object);
    return json_object_new_object();
}
