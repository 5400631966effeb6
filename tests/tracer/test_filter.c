// SPDX-License-Identifier: MIT
// tracer/base/filter: what matches, and which rule wins.
#include "tracer/base/filter.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void test_without_rules_everything_is_accepted(void **state)
{
    struct Filter filter;

    (void)state;
    Filter_init(&filter);
    assert_true(Filter_accepts(&filter, "/a/b.py", "f"));
    assert_true(Filter_accepts(&filter, "", ""));
    assert_true(Filter_accepts(&filter, NULL, NULL));
    Filter_release(&filter);
}

static void test_exclude_by_path_dotted_path_and_name(void **state)
{
    struct Filter filter;

    (void)state;
    Filter_init(&filter);
    assert_int_equal(Filter_exclude(&filter, "site-packages/numpy"), 0);
    assert_int_equal(Filter_exclude(&filter, "json.decoder"), 0);
    assert_int_equal(Filter_exclude(&filter, "<locals>.helper"), 0);
    assert_false(Filter_accepts(&filter, "/v/site-packages/numpy/a.py", "f"));
    assert_false(Filter_accepts(&filter, "/usr/lib/json/decoder.py", "f"));
    assert_false(Filter_accepts(&filter, "/x.py", "g.<locals>.helper"));
    assert_true(Filter_accepts(&filter, "/usr/lib/json-decoder.py", "f"));
    assert_true(Filter_accepts(&filter, "/usr/lib/json/encoder.py", "f"));
    assert_true(Filter_accepts(&filter, "/usr/lib/json/decode", "f"));
    Filter_release(&filter);
}

// A dot stands for a slash in paths only, and a slash never for a dot.
static void test_only_dots_are_lenient(void **state)
{
    struct Filter filter;

    (void)state;
    Filter_init(&filter);
    assert_int_equal(Filter_include(&filter, "a/b"), 0);
    assert_true(Filter_accepts(&filter, "/a/b.py", "f"));
    assert_false(Filter_accepts(&filter, "/a.b", "f"));
    Filter_release(&filter);
    Filter_init(&filter);
    assert_int_equal(Filter_include(&filter, "a.b"), 0);
    assert_false(Filter_accepts(&filter, "/x.py", "a/b"));
    assert_true(Filter_accepts(&filter, "/x.py", "a.b"));
    Filter_release(&filter);
}

static void test_exclude_wins(void **state)
{
    struct Filter filter;

    (void)state;
    Filter_init(&filter);
    assert_int_equal(Filter_include(&filter, "/app/"), 0);
    assert_int_equal(Filter_exclude(&filter, "test_"), 0);
    assert_true(Filter_accepts(&filter, "/app/main.py", "main"));
    assert_false(Filter_accepts(&filter, "/app/test_main.py", "main"));
    assert_false(Filter_accepts(&filter, "/app/main.py", "test_it"));
    assert_false(Filter_accepts(&filter, "/lib/main.py", "main"));
    assert_false(Filter_accepts(&filter, NULL, NULL));
    Filter_release(&filter);
}

static void test_an_empty_text_is_refused(void **state)
{
    struct Filter filter;

    (void)state;
    Filter_init(&filter);
    assert_int_equal(Filter_exclude(&filter, ""), -EINVAL);
    assert_int_equal(Filter_include(&filter, ""), -EINVAL);
    assert_true(Filter_accepts(&filter, "/a", "f"));
    Filter_release(&filter);
}

static void test_texts_are_copied_and_many(void **state)
{
    struct Filter filter;
    char text[32], path[64];

    (void)state;
    Filter_init(&filter);
    for (int i = 0; i < 300; i++) {
        snprintf(text, sizeof(text), "/package%d/", i);
        assert_int_equal(Filter_include(&filter, text), 0);
    }
    for (int i = 0; i < 302; i++) {
        snprintf(path, sizeof(path), "/lib/package%d/x.py", i);
        assert_int_equal(Filter_accepts(&filter, path, "f"), i < 300);
    }
    Filter_release(&filter);
    assert_true(Filter_accepts(&filter, "/lib", "f")); // as after init
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_rules_everything_is_accepted),
        cmocka_unit_test(test_exclude_by_path_dotted_path_and_name),
        cmocka_unit_test(test_only_dots_are_lenient),
        cmocka_unit_test(test_exclude_wins),
        cmocka_unit_test(test_an_empty_text_is_refused),
        cmocka_unit_test(test_texts_are_copied_and_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
