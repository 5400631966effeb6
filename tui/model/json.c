// SPDX-License-Identifier: MIT
#include "tui/model/json.h"

#include "tui/model/merge.h"
#include "tui/text/text.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct json_object *from_record(const struct Record *record,
                                       const void *value);

// NULL stands for null in json-c, so it cannot stand for an error. Each
// function that makes a value therefore stores it in *out, and returns 0 or
// -ENOMEM.

static int from_double(struct json_object **out, double value)
{
    char text[32];
    *out = NULL;
    if (!isfinite(value))
        return 0;
    // Twelve digits are enough, because no measurement of Ocular is more
    // precise.
    snprintf(text, sizeof text, "%.12g", value);
    *out = json_object_new_double_s(value, text);
    return *out ? 0 : -ENOMEM;
}

static int from_text(struct json_object **out, const char *text)
{
    *out = text ? json_object_new_string(text) : NULL;
    return text && !*out ? -ENOMEM : 0;
}

static int from_number(struct json_object **out, const struct Field *field,
                       uint64_t value)
{
    *out = NULL;
    if (value == NULL_U64)
        return 0;
    if (field->type == FIELD_BOOL)
        *out = json_object_new_boolean(value != 0);
    else if (field->type == FIELD_STATE)
        return from_text(out, State_name(value));
    else
        *out = json_object_new_uint64(value);
    return *out ? 0 : -ENOMEM;
}

static int from_list(struct json_object **out, const struct Field *field,
                     const char *value)
{
    const char *const *items = (const void *)(value + field->offset);
    size_t count = *(const size_t *)(const void *)(value + field->count_offset);
    if (field->optional) {
        *out = count ? from_record(field->record, *items) : NULL;
        return count && !*out ? -ENOMEM : 0;
    }
    *out = json_object_new_array();
    if (!*out)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        struct json_object *item =
            from_record(field->record, *items + i * field->record->size);
        if (!item || json_object_array_add(*out, item)) {
            json_object_put(item);
            json_object_put(*out);
            return -ENOMEM;
        }
    }
    return 0;
}

static int from_field(struct json_object **out, const struct Field *field,
                      const char *value)
{
    const void *at = value + field->offset;
    switch (field->type) {
    case FIELD_F64:
        return from_double(out, *(const double *)at);
    case FIELD_TEXT:
        return from_text(out, *(const char *const *)at);
    case FIELD_LIST:
        return from_list(out, field, value);
    default:
        return from_number(out, field, *(const uint64_t *)at);
    }
}

// Returns the JSON object in which the field belongs. A field belongs in the
// object of its group, or in `object` if it has no group.
static struct json_object *owner_of(struct json_object *object,
                                    const struct Field *field)
{
    struct json_object *group;
    if (!field->group)
        return object;
    if (json_object_object_get_ex(object, field->group, &group))
        return group;
    group = json_object_new_object();
    if (!group || json_object_object_add(object, field->group, group)) {
        json_object_put(group);
        return NULL;
    }
    return group;
}

static int add_fields(struct json_object *object, const struct Record *record,
                      const void *value)
{
    for (size_t i = 0; i < record->field_count; i++) {
        const struct Field *field = &record->fields[i];
        struct json_object *owner = owner_of(object, field), *member = NULL;
        if (!owner || from_field(&member, field, value) ||
            json_object_object_add(owner, field->name, member))
            return -ENOMEM;
    }
    return 0;
}

static struct json_object *from_record(const struct Record *record,
                                       const void *value)
{
    struct json_object *object = json_object_new_object();
    if (!object || !add_fields(object, record, value))
        return object;
    json_object_put(object);
    return NULL;
}

static void put_escape(struct Bytes *out, uint32_t code)
{
    char escape[16];
    int size;
    if (code > 0xFFFF) {
        code -= 0x10000;
        size = snprintf(escape, sizeof escape, "\\u%04x\\u%04x",
                        (unsigned)(0xD800 + (code >> 10)),
                        (unsigned)(0xDC00 + (code & 0x3FF)));
    } else {
        size = snprintf(escape, sizeof escape, "\\u%04x", (unsigned)code);
    }
    Bytes_put(out, escape, (size_t)size);
}

// Appends a text of json-c, in which harmful characters are escaped. json-c
// itself escapes only C0 control characters. All other harmful characters can
// be escaped in the finished text, because only strings contain characters
// beyond ASCII.
static void put_harmless(struct Bytes *out, const char *text)
{
    uint32_t code;
    const char *from = text, *plain = text;
    while ((code = Utf8_decode(&text)) != 0) {
        if (code != UTF8_BAD && !Utf8_is_harmful(code)) {
            from = text;
            continue;
        }
        Bytes_put(out, plain, (size_t)(from - plain));
        put_escape(out, code);
        plain = from = text;
    }
    Bytes_put(out, plain, (size_t)(from - plain));
}

static int put_object(struct Bytes *out, struct json_object *object)
{
    const char *text = NULL;
    if (object)
        text = json_object_to_json_string_ext(
            object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    if (text) {
        put_harmless(out, text);
        Bytes_put(out, "\n", 1);
    }
    json_object_put(object);
    return text ? out->error : -ENOMEM;
}

// Adds a member to an object, unless its value is null.
static int add(struct json_object *object, const char *name,
               struct json_object *value)
{
    if (!value || (object && json_object_object_add(object, name, value) == 0))
        return 0;
    json_object_put(value);
    return -ENOMEM;
}

static int append_text(struct json_object *list, const char *text)
{
    struct json_object *item;
    int error = from_text(&item, text);
    if (error || json_object_array_add(list, item) == 0)
        return error;
    json_object_put(item);
    return -ENOMEM;
}

// Adds the names of the fields that a merged snapshot lacks.
static int add_lacks(struct json_object *object)
{
    struct json_object *lacks = json_object_new_array();
    const char *group = NULL, *name;
    char text[100];
    int error = add(object, "not_merged", lacks);
    for (size_t i = 0; !error && lacks && (name = Merge_lacks(i, &group));
         i++) {
        snprintf(text, sizeof text, "%s%s%s", group ? group : "",
                 group ? "." : "", name);
        error = append_text(lacks, text);
    }
    return error;
}

// Returns true if all numbers of a group are null.
static bool is_all_null(struct json_object *group)
{
    bool nulls = false;
    json_object_object_foreach(group, name, value)
    {
        (void)name;
        if (value && json_object_get_type(value) != json_type_array)
            return false;
        nulls |= !value;
    }
    return nulls;
}

// Appends the names of the group's members that are null. The budget is left
// out, because null means that there is no budget.
static int append_nulls(struct json_object *list, const char *group_name,
                        struct json_object *group)
{
    char text[100];
    int error = 0;
    json_object_object_foreach(group, name, value)
    {
        if (error || value || strcmp(name, "budget") == 0)
            continue;
        snprintf(text, sizeof text, "%s.%s", group_name, name);
        error = append_text(list, text);
    }
    return error;
}

// Adds the names of the numbers that a recording lacks. A recording without the
// number of stalls also lacks the event loops. The list of event loops is empty
// in this case.
static int add_unrecorded(struct json_object *object,
                          const struct Snapshot *snapshot)
{
    struct json_object *list = json_object_new_array();
    bool lacks = snapshot->stalls_total == NULL_U64 && !snapshot->loop_count;
    int error = !list ? -ENOMEM : lacks ? append_text(list, "loops") : 0;
    json_object_object_foreach(object, name, value)
    {
        bool group = json_object_get_type(value) == json_type_object;
        if (error || (value && !group))
            continue;
        error = !group || is_all_null(value) ? append_text(list, name)
                                             : append_nulls(list, name, value);
    }
    if (error)
        json_object_put(list);
    return error ? error : add(object, "not_recorded", list);
}

int Json_snapshot(struct Bytes *out, const struct JsonSnapshot *from)
{
    static const struct Field number = {.type = FIELD_U64};
    struct json_object *object = from_record(&SNAPSHOT_RECORD, from->snapshot);
    struct json_object *since, *thread;
    int error = from_double(&since, from->since_s);
    if (!error)
        error = add(object, "counts_since_s", since);
    if (!error)
        error = from_number(&thread, &number, from->tid);
    if (!error)
        error = add(object, "shares_of_tid", thread);
    if (!error && from->fleet && object)
        error = add_fields(object, &FLEET_RECORD, from->fleet);
    if (!error && from->fleet && object)
        error = add_lacks(object);
    if (!error && from->past && object)
        error = add_unrecorded(object, from->snapshot);
    int failed = put_object(out, object);
    return error ? error : failed;
}

int Json_record(struct Bytes *out, const struct Record *record,
                const void *value)
{
    return put_object(out, from_record(record, value));
}
