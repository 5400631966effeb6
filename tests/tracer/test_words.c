// SPDX-License-Identifier: MIT
// Words come back by kind and number, and none that was not added.
#include "tracer/session/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_by_kind_and_number(void **state)
{
    struct Words *words = Words_new(7);
    char text[32];
    uint32_t i;

    (void)state;
    assert_int_equal(words->id, 7);
    assert_null(Words_get(words, WORDS_NAMES, 0));
    for (i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "name%u", i);
        assert_int_equal(Words_add(words, WORDS_NAMES, text), 0);
    }
    assert_int_equal(Words_add(words, WORDS_CONSTS, ""), 0);
    assert_string_equal(Words_get(words, WORDS_NAMES, 0), "name0");
    assert_string_equal(Words_get(words, WORDS_NAMES, 4999), "name4999");
    assert_null(Words_get(words, WORDS_NAMES, 5000));
    assert_null(Words_get(words, WORDS_NAMES, UINT32_MAX));
    assert_string_equal(Words_get(words, WORDS_CONSTS, 0), "");
    assert_null(Words_get(words, WORDS_LOCALS, 0));
    assert_true(Words_bytes(words) > 5000 * 9);
    Words_free(words);
    Words_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_kind_and_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
