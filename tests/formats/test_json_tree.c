// SPDX-License-Identifier: MIT
// Tests formats/json_tree with trees for which memory ran out, and with
// arguments that are not JSON. AddressSanitizer checks that no memory is freed
// twice or leaked.
#include "formats/json_tree.h"

#include "tests/unit.h"

static void says(struct json_object *object, const char *words)
{
    assert_string_equal(
        json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN), words);
    json_object_put(object);
}

TEST(test_a_tree)
{
    struct json_object *object = json_object_new_object();
    struct json_object *array = json_object_new_array();

    JsonTree_append(&array, json_object_new_int(1));
    JsonTree_append(&array, JsonTree_text("a\xff\x01"));
    JsonTree_add(&object, "list", array);
    JsonTree_add(&object, "none", JsonTree_text(NULL));
    says(object, "{\"list\":[1,\"a\xef\xbf\xbd\\u0001\"],\"none\":\"\"}");
}

TEST(test_a_value_that_is_missing)
{
    struct json_object *object = json_object_new_object();
    struct json_object *array = json_object_new_array();

    JsonTree_add(&object, "one", json_object_new_int(1));
    JsonTree_add(&object, "two", NULL);
    assert_null(object);
    // JsonTree_add frees the value.
    JsonTree_add(&object, "three", json_object_new_int(3));
    assert_null(object);
    JsonTree_append(&array, json_object_new_int(1));
    JsonTree_append(&array, NULL);
    assert_null(array);
    JsonTree_append(&array, json_object_new_int(2));
    assert_null(array);
}

TEST(test_what_is_parsed)
{
    says(JsonTree_parse("{\"a\":[1]}xyz", 9), "{\"a\":[1]}");
    // The JSON text is not complete.
    says(JsonTree_parse("{\"a\":[1]}", 5), "{}");
    says(JsonTree_parse("[1]", 3), "{}");
    says(JsonTree_parse("nonsense", 8), "{}");
    says(JsonTree_parse("", 0), "{}");
}
