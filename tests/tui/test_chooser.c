// SPDX-License-Identifier: MIT
// Tests the list of processes: hostile command lines, deep families of
// processes, and its keys.
#include "tui/app/chooser_draw.h"
#include "tui/screen/keymap.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit.h"

#define ROWS 30

static const char *const commands[] = {
    "/a/long/way/to/the/folder/of/the/interpreter/python3 worker.py --shard "
    "3/4",
    "\x1b]0;title\x07\x1b[2J\x9b"
    "1m\r\n\t\x7f",
    "\xe2\x80\xaegnp.exe\xff\xe2\x80\x8b",
    "",
    "\xe6\x95\xb0\xe6\x8d\xae\xe6\x95\xb0\xe6\x8d\xae\xe6\x95\xb0\xe6\x8d\xae "
    "\xe6\x95\xb0\xe6\x8d\xae\xe6\x95\xb0\xe6\x8d\xae\xe6\x95\xb0\xe6\x8d\xae "
    "\xe6\x95\xb0\xe6\x8d\xae\xe6\x95\xb0\xe6\x8d\xae\xe6\x95\xb0\xe6\x8d\xae",
};

static void set_up(struct Chooser *chooser, long count)
{
    *chooser = (struct Chooser){.count = count, .serving = count};
    chooser->rows = calloc((size_t)count + 1, sizeof *chooser->rows);
    assert_non_null(chooser->rows);
    for (long i = 0; i < count; i++) {
        struct ChooserRow *row = &chooser->rows[i];
        row->served.pid = (pid_t)(48000 + i);
        row->depth = (int)i % 17;
        snprintf(row->user, sizeof row->user, "someone_of_a_long_name");
        snprintf(row->served.command, sizeof row->served.command, "%s",
                 commands[(size_t)i % (sizeof commands / sizeof *commands)]);
    }
}

// Makes the last `count` rows processes that do not serve.
static void add_others(struct Chooser *chooser, long count)
{
    chooser->serving = chooser->count - count;
    for (long i = chooser->serving; i < chooser->count; i++) {
        struct ChooserRow *row = &chooser->rows[i];
        row->other = true;
        row->depth = 0;
        row->age_s = (double)(i * i * i);
        snprintf(row->takes, sizeof row->takes, "3.13.10: held by a debugger");
    }
}

static bool shows(const struct Canvas *canvas, const char *text)
{
    struct Bytes bytes;
    Bytes_init(&bytes);
    Canvas_write(canvas, &bytes);
    Bytes_put(&bytes, "", 1);
    bool found = strstr((char *)bytes.data, text) != NULL;
    Bytes_release(&bytes);
    return found;
}

static void check(struct Chooser *chooser, struct Canvas *canvas, int width,
                  int height)
{
    assert_int_equal(Canvas_resize(canvas, width, height), 0);
    Chooser_draw(chooser, canvas);
    assert_false(canvas->overdrawn);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const struct Cell *cell = Canvas_cell(canvas, y, x);
            assert_false(cell->width && Utf8_is_harmful(cell->code));
        }
    assert_int_equal(chooser->too_small, width < 60 || height < 12);
    if (chooser->too_small)
        return;
    assert_true(shows(canvas, chooser->help    ? "keys, columns and marks"
                              : chooser->count ? "\n▸"
                                               : "No process serves"));
    assert_true(shows(canvas, chooser->help    ? "Esc Back"
                              : chooser->asked ? "until you leave? y/n"
                                               : "q Quit"));
    if (!chooser->help && chooser->count > chooser->serving) {
        assert_true(shows(canvas, "ATTACHING"));
        assert_true(shows(canvas, chooser->serving ? "  serves\n"
                                                   : "No process serves"));
    }
}

TEST(test_attaching)
{
    struct Chooser chooser;
    struct Canvas canvas;
    set_up(&chooser, 6);
    add_others(&chooser, 3);
    Canvas_init(&canvas, false);
    check(&chooser, &canvas, 80, 24);
    assert_true(shows(&canvas, "3 serve, 3 do not"));
    assert_true(shows(&canvas, "Enter Watch"));
    assert_int_equal(Chooser_key(&chooser, PRESS_ENTER), CHOOSER_CHOSEN);
    Chooser_select(&chooser, 48004);
    check(&chooser, &canvas, 80, 24);
    assert_true(shows(&canvas, "Enter Attach"));
    const uint32_t refusing[] = {'n', PRESS_ENTER, PRESS_ESCAPE, 'q',
                                 Key_click(20, 4)};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(Chooser_key(&chooser, PRESS_ENTER), CHOOSER_NONE);
        assert_int_equal(chooser.asked, 48004);
        check(&chooser, &canvas, 60, 12);
        assert_int_equal(Chooser_key(&chooser, refusing[i]), CHOOSER_NONE);
        assert_int_equal(chooser.asked, 0);
        Chooser_draw(&chooser, &canvas);
        assert_true(shows(&canvas, "Nothing was changed."));
    }
    Chooser_key(&chooser, PRESS_ENTER);
    Chooser_select(&chooser, 48001); // the selection has moved meanwhile
    assert_int_equal(Chooser_key(&chooser, 'y'), CHOOSER_CHOSEN);
    assert_int_equal(Chooser_selected(&chooser)->served.pid, 48004);
    Chooser_draw(&chooser, &canvas);
    assert_true(shows(&canvas, "Attaching to process 48004"));
    Canvas_release(&canvas);
    Chooser_release(&chooser);
}

// The whole message can be read, even on the smallest terminal, and the list
// still works.
TEST(test_a_refusal)
{
    struct Chooser chooser;
    struct Canvas canvas;
    char *why;
    set_up(&chooser, 6);
    add_others(&chooser, 2);
    Canvas_init(&canvas, false);
    Chooser_select(&chooser, 48005);
    why = chooser.rows[5].why;
    for (int i = 0; i < 40; i++)
        sprintf(why + strlen(why), i ? " word%d" : "process%d", i);
    for (int width = 60; width < 200; width++) {
        assert_int_equal(Chooser_key(&chooser, PRESS_ENTER), CHOOSER_NONE);
        assert_int_equal(chooser.asked, 0);
        assert_int_equal(Canvas_resize(&canvas, width, 12), 0);
        Chooser_draw(&chooser, &canvas);
        assert_false(canvas.overdrawn);
        assert_true(shows(&canvas, "\n▸    48005"));
        assert_true(shows(&canvas, "\n process0 word1 word2"));
        assert_true(shows(&canvas, "word39\n"));
        assert_false(shows(&canvas, "q Quit") || shows(&canvas, "…\n word"));
        Chooser_key(&chooser, PRESS_HOME);
        Chooser_draw(&chooser, &canvas);
        assert_true(shows(&canvas, "q Quit"));
        Chooser_select(&chooser, 48005);
    }
    for (size_t i = 0; i + 1 < sizeof chooser.rows[5].why; i++)
        why[i] = i % 9 ? '\xc3' : ' ';
    Chooser_key(&chooser, PRESS_ENTER);
    Chooser_draw(&chooser, &canvas);
    assert_false(canvas.overdrawn);
    memset(why, 'x', sizeof chooser.rows[5].why - 1); // a text without blanks
    Chooser_key(&chooser, PRESS_ENTER);
    assert_int_equal(Canvas_resize(&canvas, 60, 12), 0);
    Chooser_draw(&chooser, &canvas);
    assert_true(shows(&canvas, "xxx…"));
    Canvas_release(&canvas);
    Chooser_release(&chooser);
}
