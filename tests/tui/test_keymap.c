// SPDX-License-Identifier: MIT
// Tests that the table of keys is complete and consistent, and that each key
// can be written as text.
#include "tui/screen/keymap.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit.h"

TEST(test_keys_without_a_request)
{
    assert_null(Keymap_find(0));
    assert_int_equal(Keymap_request(0), REQUEST_NONE);
    assert_int_equal(Keymap_request('X'), REQUEST_NONE);
    assert_int_equal(Keymap_request(0xFFFFFFFF), REQUEST_NONE);
}

// --keys accepts the key names of the help.
TEST(test_names_read_back)
{
    char name[KEY_NAME_MAX], text[KEY_NAME_MAX + 2];
    for (size_t i = 0; i < KEYMAP_COUNT; i++)
        for (int k = 0; k < BINDING_KEYS && KEYMAP[i].keys[k]; k++) {
            uint32_t key = KEYMAP[i].keys[k];
            Key_name(name, key);
            if (key == '<')
                continue;
            snprintf(text, sizeof text, strlen(name) > 1 ? "<%s>" : "%s", name);
            const char *at = text;
            assert_int_equal(Key_parse(&at), key);
            assert_string_equal(at, "");
        }
}

TEST(test_parse)
{
    const char *at = "j<enter>\xc3\xa9<lt>><F10><Ctrl-L> <Space><PgDn>";
    static const uint32_t keys[] = {'j', PRESS_ENTER,     0xe9, '<',
                                    '>', PRESS_F1 + 9,    12,   ' ',
                                    ' ', PRESS_PAGE_DOWN, 0,    0};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_int_equal(Key_parse(&at), keys[i]);
    static const char *const bad[] = {"<",
                                      "<>",
                                      "<Nokey>",
                                      "<F0>",
                                      "<F13>",
                                      "<F1",
                                      "<Click:5000:1>",
                                      "<Click:1>",
                                      "<Ctrl->",
                                      "<anamethatismuchtoolongtobeone>"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        at = bad[i];
        assert_int_equal(Key_parse(&at), 0);
        assert_ptr_equal(at, bad[i]);
    }
}
