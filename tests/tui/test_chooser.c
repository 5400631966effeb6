// SPDX-License-Identifier: MIT
// Tests the list of processes, the questions that it asks, and its refusals.
#include "tui/app/chooser_draw.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit.h"

#include "tests/tui/picture.h"
#include "tui/screen/keymap.h"

static void set_up(struct Chooser *chooser, long count)
{
    *chooser = (struct Chooser){.count = count, .serving = count};
    chooser->rows = calloc((size_t)count + 1, sizeof *chooser->rows);
    assert_non_null(chooser->rows);
    for (long i = 0; i < count; i++) {
        struct ChooserRow *row = &chooser->rows[i];
        row->served.pid = (pid_t)(48000 + i);
        strcpy(row->served.command, "python3 worker.py");
    }
}

// Turns the last `count` rows into processes that do not serve viewers.
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
    return strstr(picture_of(canvas), text) != NULL;
}

// The selection moves before the user answers a question.
TEST(test_the_process_of_the_question_is_chosen)
{
    struct Chooser chooser;
    set_up(&chooser, 6);
    add_others(&chooser, 3);
    Chooser_select(&chooser, 48004);
    assert_int_equal(Chooser_key(&chooser, PRESS_ENTER), CHOOSER_NONE);
    Chooser_select(&chooser, 48001);
    assert_int_equal(Chooser_key(&chooser, 'y'), CHOOSER_CHOSEN);
    assert_int_equal(Chooser_selected(&chooser)->served.pid, 48004);
    Chooser_release(&chooser);
}

// Even on the smallest terminal, the whole message of a refusal is visible, and
// the list still works.
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
    strcpy(chooser.rows[0].served.command,
           "/v/bin/python -m ocular --serve --budget 0.02 -m gunicorn -w 3");
    strcpy(chooser.rows[1].served.command,
           "python3 /v/bin/ocular --children=4 --serve ./web.py 80");
    Chooser_draw(&chooser, &canvas);
    assert_true(shows(&canvas, "  gunicorn -w 3  (/v/bin/python)"));
    assert_true(shows(&canvas, "  web.py 80  (python3)"));
    for (size_t i = 0; i + 1 < sizeof chooser.rows[5].why; i++)
        why[i] = i % 9 ? '\xc3' : ' ';
    Chooser_key(&chooser, PRESS_ENTER);
    Chooser_draw(&chooser, &canvas);
    assert_false(canvas.overdrawn);
    // A message without blanks.
    memset(why, 'x', sizeof chooser.rows[5].why - 1);
    Chooser_key(&chooser, PRESS_ENTER);
    assert_int_equal(Canvas_resize(&canvas, 60, 12), 0);
    Chooser_draw(&chooser, &canvas);
    assert_true(shows(&canvas, "xxx…"));
    Canvas_release(&canvas);
    Chooser_release(&chooser);
}
