// SPDX-License-Identifier: MIT
// Tests a line of items: it drops the least important ones, and never exceeds
// its box.
#include "tui/screen/strip.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/between.h"

static const char *draw(struct Strip *strip, int width, int gap)
{
    static char line[512];
    struct Canvas canvas;
    struct Bytes out;
    Canvas_init(&canvas, false);
    Canvas_resize(&canvas, 200, 1);
    Strip_draw(strip, &canvas, (struct Box){0, 2, width}, gap);
    for (int x = 0; x < 200; x++)
        if (x < 2 || x >= 2 + width)
            assert_int_equal(Canvas_cell(&canvas, 0, x)->code, ' ');
    Bytes_init(&out);
    Canvas_write(&canvas, &out);
    assert_true(out.size < sizeof line);
    memcpy(line, out.data, out.size);
    line[out.size - 1] = 0;
    Bytes_release(&out);
    Canvas_release(&canvas);
    return strlen(line) > 2 ? line + 2 : line;
}

static void fill(struct Strip *strip)
{
    Strip_init(strip);
    Strip_item(strip, 0);
    Strip_add(strip, STYLE_PLAIN, "name");
    Strip_item(strip, 2);
    Strip_add(strip, STYLE_PLAIN, "a long %s", "command");
    Strip_flex(strip, 6);
    Strip_item(strip, 1);
    Strip_add(strip, STYLE_PLAIN, "one");
    Strip_add(strip, STYLE_FAINT, "two");
    Strip_item(strip, 0);
    Strip_right(strip);
    Strip_add(strip, STYLE_PLAIN, "end");
}

// Fills the strip, draws it at each width (0 ends the list) and checks the
// text.
struct Shown {
    int width;
    const char *line;
};

static void assert_shown(void (*fill_in)(struct Strip *),
                         const struct Shown *shown)
{
    struct Strip strip;
    for (; shown->width; shown++) {
        fill_in(&strip);
        assert_string_equal(draw(&strip, shown->width, 2), shown->line);
    }
}

static void test_dropping(void **state)
{
    static const struct Shown shown[] = {
        {40, "name  a long command  onetwo         end"},
        {33, "name  a long command  onetwo  end"},
        {32, "name  a long comma…  onetwo  end"},
        {25, "name  a lon…  onetwo  end"},
        {24, "name  onetwo         end"},
        {17, "name  onetwo  end"},
        {16, "name         end"},
        {9, "name  end"},
        {8, "name  e…"},
        {3, "na…"},
        {0, NULL},
    };
    (void)state;
    assert_shown(fill, shown);
}

static void fill_with_a_wide_one(struct Strip *strip)
{
    static const struct {
        const char *words;
        int importance;
    } items[] = {
        {"first", 0}, {"a very wide one", 1}, {"third", 3}, {"last", 2}};
    Strip_init(strip);
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        Strip_item(strip, items[i].importance);
        Strip_add(strip, STYLE_PLAIN, "%s", items[i].words);
    }
}

// An item that was dropped in favour of a wide item is shown again if the wide
// item is dropped, too.
static void test_coming_back(void **state)
{
    static const struct Shown shown[] = {
        {35, "first  a very wide one  third  last"},
        {34, "first  a very wide one  last"},
        {27, "first  a very wide one"},
        {21, "first  third  last"},
        {17, "first  last"},
        {10, "first"},
        {0, NULL},
    };
    (void)state;
    assert_shown(fill_with_a_wide_one, shown);
}

// A dropped item does not come back if the wide item can be cut.
static void test_room_for_the_flexible(void **state)
{
    struct Strip strip;
    (void)state;
    Strip_init(&strip);
    Strip_item(&strip, 0);
    Strip_add(&strip, STYLE_PLAIN, "a long command");
    Strip_flex(&strip, 6);
    Strip_item(&strip, 2);
    Strip_add(&strip, STYLE_PLAIN, "two");
    Strip_item(&strip, 1);
    Strip_add(&strip, STYLE_PLAIN, "twelve cells");
    assert_string_equal(draw(&strip, 18, 2), "a long command");
}

// Items beyond every limit are cut, and nothing is written past the end.
static void test_overflow(void **state)
{
    struct Strip strip;
    char *text = malloc(3000);
    (void)state;
    memset(text, 'x', 2999);
    text[2999] = 0;
    Strip_init(&strip);
    for (int i = 0; i < 2 * STRIP_ITEMS; i++) {
        Strip_item(&strip, i);
        Strip_flex(&strip, 3);
        for (int k = 0; k < 4; k++)
            Strip_add(&strip, STYLE_PLAIN, "%s", i % 3 ? "\xe6\x95\xb0" : text);
    }
    assert_int_equal(strip.item_count, STRIP_ITEMS);
    assert_between(strip.span_count, 1, STRIP_SPANS);
    assert_true(strip.used <= STRIP_TEXT);
    for (int width = 0; width < 190; width++) {
        struct Strip copy = strip;
        draw(&copy, width, 3);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dropping),
        cmocka_unit_test(test_coming_back),
        cmocka_unit_test(test_room_for_the_flexible),
        cmocka_unit_test(test_overflow),
    };
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
