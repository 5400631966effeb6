// SPDX-License-Identifier: MIT
// See json.h.
#include "tui/model/json.h"

#include "tui/text/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void put(struct Bytes *out, const char *text)
{
    Bytes_put(out, text, strlen(text));
}

static void put_escape(struct Bytes *out, uint32_t code)
{
    char escape[16];

    if (code > 0xFFFF) {
        code -= 0x10000;
        snprintf(escape, sizeof escape, "\\u%04x\\u%04x",
                 (unsigned)(0xD800 + (code >> 10)),
                 (unsigned)(0xDC00 + (code & 0x3FF)));
    } else {
        snprintf(escape, sizeof escape, "\\u%04x", (unsigned)code);
    }
    put(out, escape);
}

static void put_text(struct Bytes *out, const char *text)
{
    const char *from = text, *at = text;
    uint32_t code;

    put(out, text ? "\"" : "null");
    if (!text)
        return;
    while ((code = Utf8_decode(&text)) != 0) {
        bool plain = code != '"' && code != '\\' && code != UTF8_BAD &&
                     !Utf8_is_harmful(code);
        if (!plain) {
            Bytes_put(out, from, (size_t)(at - from));
            put_escape(out, code);
            from = text;
        }
        at = text;
    }
    Bytes_put(out, from, (size_t)(at - from));
    put(out, "\"");
}

// Twelve digits are enough, because Ocular's measurements are less precise.
static void put_double(struct Bytes *out, double value)
{
    char text[32] = "null";

    if (isfinite(value))
        snprintf(text, sizeof text, "%.12g", value);
    put(out, text);
}

static void put_number(struct Bytes *out, uint64_t value)
{
    char text[32] = "null";

    if (value != NULL_U64)
        snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    put(out, text);
}

static void put_bool(struct Bytes *out, uint64_t value)
{
    put(out, value == NULL_U64 ? "null" : value ? "true" : "false");
}

static void put_group(struct Bytes *out, const struct Record *record,
                      const void *value, const char *group);

static void put_list(struct Bytes *out, const struct Field *field,
                     const char *value)
{
    const char *const *items = (const void *)(value + field->offset);
    size_t count = *(const size_t *)(const void *)(value + field->count_offset);

    put(out, "[");
    for (size_t i = 0; i < count; i++) {
        put(out, i ? ",{" : "{");
        put_group(out, field->record, *items + i * field->record->size, NULL);
        put(out, "}");
    }
    put(out, "]");
}

static void put_value(struct Bytes *out, const struct Field *field,
                      const char *value)
{
    const void *at = value + field->offset;

    switch (field->type) {
    case FIELD_F64:
        put_double(out, *(const double *)at);
        break;
    case FIELD_TEXT:
        put_text(out, *(const char *const *)at);
        break;
    case FIELD_STATE:
        put_text(out, State_name(*(const uint64_t *)at));
        break;
    case FIELD_LIST:
        put_list(out, field, value);
        break;
    case FIELD_U64:
        put_number(out, *(const uint64_t *)at);
        break;
    case FIELD_BOOL:
        put_bool(out, *(const uint64_t *)at);
    }
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

// Writes the members of a group. If the group is NULL, writes the members of
// the record and all groups. The members of a group need not be next to each
// other in the table.
static void put_group(struct Bytes *out, const struct Record *record,
                      const void *value, const char *group)
{
    const char *comma = "";

    for (size_t i = 0; i < record->field_count; i++) {
        const struct Field *field = &record->fields[i];
        bool nested = !group && field->group, again = false;
        for (size_t k = 0; nested && k < i && !again; k++)
            again = is_same(record->fields[k].group, field->group);
        if (again || (group && !is_same(group, field->group)))
            continue;
        put(out, comma);
        put_text(out, nested ? field->group : field->name);
        put(out, nested ? ":{" : ":");
        if (nested)
            put_group(out, record, value, field->group);
        else
            put_value(out, field, value);
        put(out, nested ? "}" : "");
        comma = ",";
    }
}

int Json_record(struct Bytes *out, const struct Record *record,
                const void *value)
{
    put(out, "{");
    put_group(out, record, value, NULL);
    put(out, "}\n");
    return out->error;
}

int Json_snapshot(struct Bytes *out, const struct Snapshot *snapshot,
                  double since_s, uint64_t tid)
{
    put(out, "{");
    put_group(out, &SNAPSHOT_RECORD, snapshot, NULL);
    if (isfinite(since_s)) {
        put(out, ",\"counts_since_s\":");
        put_double(out, since_s);
    }
    if (tid != NULL_U64) {
        put(out, ",\"shares_of_tid\":");
        put_number(out, tid);
    }
    put(out, "}\n");
    return out->error;
}
