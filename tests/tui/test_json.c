// SPDX-License-Identifier: MIT
// Tests three rules for a snapshot's JSON: it can be parsed, null stays null,
// and no text contains a harmful character.
#include "tests/tui/sample.h"
#include "tui/model/json.h"

#include <json-c/json.h>
#include <string.h>

#include "tests/unit.h"
#include "tui/text/text.h"

static struct Bytes out;
static bool past; // The snapshot is from a recording.

static struct json_object *read_back(const struct Snapshot *snapshot)
{
    Bytes_init(&out);
    struct JsonSnapshot from = {
        .snapshot = snapshot, .since_s = NAN, .tid = NULL_U64, .past = past};
    assert_int_equal(Json_snapshot(&out, &from), 0);
    Bytes_put(&out, "", 1);
    assert_int_equal(out.error, 0);
    assert_int_equal(out.data[out.size - 2], '\n');
    assert_ptr_equal(strchr((char *)out.data, '\n'), out.data + out.size - 2);
    struct json_object *object = json_tokener_parse((char *)out.data);
    assert_non_null(object);
    return object;
}

static struct json_object *get(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;
    if (!json_object_object_get_ex(object, key, &value))
        fail_msg("no member %s", key);
    return value;
}

TEST(test_null)
{
    struct Snapshot *snapshot = Snapshot_new();
    struct json_object *root = read_back(snapshot);
    for (size_t i = 0; i < SNAPSHOT_RECORD.field_count; i++) {
        const struct Field *field = &SNAPSHOT_RECORD.fields[i];
        struct json_object *owner = root;
        if (field->group)
            owner = get(root, field->group);
        struct json_object *value = get(owner, field->name);
        if (field->type == FIELD_LIST)
            assert_int_equal(json_object_array_length(value), 0);
        else
            assert_null(value);
    }
    json_object_put(root);
    Bytes_release(&out);
    Snapshot_free(snapshot);
}

TEST(test_hostile_values)
{
    struct Snapshot *snapshot = Sample_new((struct SampleSpec){.tick = 0});
    snapshot->tsc_hz = INFINITY;
    snapshot->uptime_s = -1e308;
    snapshot->command =
        "a\"\\/\n\x1b[2J\x7f\xc2\x9b\xe2\x80\xae\xff\xf3\xa0"
        "\x80\x81\xe6\x95\xb0";
    snapshot->pid = UINT64_MAX - 1;
    struct json_object *root = read_back(snapshot);
    assert_null(get(root, "tsc_hz"));
    assert_string_equal(json_object_get_string(get(root, "command")),
                        "a\"\\/\n\x1b[2J\x7f\xc2\x9b\xe2\x80\xae\xef\xbf\xbd"
                        "\xf3\xa0\x80\x81\xe6\x95\xb0");
    assert_true(json_object_get_uint64(get(root, "pid")) == UINT64_MAX - 1);
    const char *at = (char *)out.data;
    uint32_t code;
    while ((code = Utf8_decode(&at)) != 0)
        assert_true(code == '\n' ||
                    (code != UTF8_BAD && !Utf8_is_harmful(code)));
    json_object_put(root);
    Bytes_release(&out);
    Snapshot_free(snapshot);
}

static bool lists(struct json_object *list, const char *name)
{
    for (size_t i = 0; i < json_object_array_length(list); i++)
        if (strcmp(json_object_get_string(json_object_array_get_idx(list, i)),
                   name) == 0)
            return true;
    return false;
}

// The JSON of a recording names the numbers that the recording lacks.
TEST(test_what_a_recording_lacks)
{
    struct Snapshot *snapshot = Snapshot_new();
    snapshot->gil_waited = snapshot->overhead_measured = .5;
    snapshot->exception_totals_raised = 0;
    snapshot->stalls_total = 0;
    past = true;
    struct json_object *root = read_back(snapshot);
    struct json_object *list = get(root, "not_recorded");
    assert_true(lists(list, "gc") && lists(list, "tasks"));
    assert_true(lists(list, "memory_bytes"));
    assert_false(lists(list, "loops"));
    assert_true(lists(list, "gil.held") && lists(list, "overhead.hooks"));
    assert_false(lists(list, "gil") || lists(list, "gil.waited"));
    assert_false(lists(list, "exception_totals") || lists(list, "stalls"));
    assert_false(lists(list, "stalls_total") || lists(list, "filter"));
    assert_false(lists(list, "overhead.budget"));
    json_object_put(root);
    Bytes_release(&out);
    past = false;
    root = read_back(snapshot);
    assert_false(json_object_object_get_ex(root, "not_recorded", &list));
    json_object_put(root);
    Bytes_release(&out);
    Snapshot_free(snapshot);
}
