// SPDX-License-Identifier: MIT
// Tests which keys the prompt accepts, erases and refuses.
#include "tui/screen/keymap.h"
#include "tui/screen/prompt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_typing(void **state)
{
    struct Prompt prompt = {0};
    (void)state;
    Prompt_open(&prompt, PROMPT_FILTER, "ab");
    assert_int_equal(Prompt_key(&prompt, 'c'), PROMPT_EDITING);
    Prompt_key(&prompt, 0x6570);
    assert_string_equal(prompt.text, "abc\xe6\x95\xb0");
    Prompt_key(&prompt, PRESS_BACKSPACE);
    assert_string_equal(prompt.text, "abc");
    Prompt_key(&prompt, PRESS_UP); // not a character
    Prompt_key(&prompt, 0x9b);     // a control character
    Prompt_key(&prompt, 0x202e);   // a bidirectional override
    Prompt_key(&prompt, 1);
    assert_string_equal(prompt.text, "abc");
    Prompt_key(&prompt, 21);
    assert_string_equal(prompt.text, "");
    Prompt_key(&prompt, PRESS_BACKSPACE);
    assert_int_equal(prompt.length, 0);
    assert_int_equal(Prompt_key(&prompt, PRESS_ENTER), PROMPT_DONE);
    assert_int_equal(Prompt_key(&prompt, PRESS_ESCAPE), PROMPT_CANCELLED);
}

static void test_full(void **state)
{
    struct Prompt prompt = {0};
    (void)state;
    Prompt_open(&prompt, PROMPT_SAVE, "");
    for (int i = 0; i < 3000; i++)
        Prompt_key(&prompt, i % 2 ? 0x1F40D : 'x');
    assert_true(strlen(prompt.text) < PROMPT_MAX);
    assert_int_equal(strlen(prompt.text), prompt.length);
}

static void test_question(void **state)
{
    struct Prompt prompt = {0};
    (void)state;
    Prompt_open(&prompt, PROMPT_OVERWRITE_SAVE, "file");
    assert_int_equal(Prompt_key(&prompt, 'x'), PROMPT_EDITING);
    assert_int_equal(Prompt_key(&prompt, PRESS_ENTER), PROMPT_EDITING);
    assert_int_equal(Prompt_key(&prompt, 'n'), PROMPT_CANCELLED);
    assert_int_equal(Prompt_key(&prompt, PRESS_ESCAPE), PROMPT_CANCELLED);
    assert_int_equal(Prompt_key(&prompt, 'y'), PROMPT_DONE);
    assert_string_equal(prompt.text, "file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_typing),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_question),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
