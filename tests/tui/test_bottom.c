// SPDX-License-Identifier: MIT
// Tests tui/views/bottom, which shortens a message on a narrow screen.
#include "tui/views/bottom.h"
#include "tui/views/view_table.h"

#include <string.h>

#include "tests/unit.h"

#include "tests/tui/picture.h"

// On a narrow screen, a path in a message loses directories. The file's name
// and the words around the path stay. A name that is longer than the line keeps
// its end.
TEST(test_a_long_path_in_a_message)
{
    static const struct {
        const char *path, *line;
        int width;
    } cases[] = {
        {"/srv/app/t.json", " Written: /srv/app/t.json, 12 MiB. It opens it.",
         80},
        {"/home/somebody/projects/service/run/ocular_trace.json",
         " Written: run/ocular_trace.json, 12 MiB. It opens it.", 60},
        {"/srv/a_name_that_is_longer_than_all_that_there_is_trace.json",
         " Written: …hat_there_is_trace.json, 12 MiB. It…", 48},
        {"/srv/app/some/where/ocular_trace.json",
         " Written: where/ocular_trace.json, 12 …", 40},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct Feed feed;
        static struct Ui ui;
        Ui_init(&ui, VIEWS, &feed, false);
        Canvas_resize(&ui.canvas, cases[i].width, 1);
        Ui_say_path(&ui, cases[i].path, false,
                    "Written: %s, 12 MiB. It opens it.", cases[i].path);
        Bottom_draw(&ui);
        const char *text = picture_of(&ui.canvas);
        size_t size = strcspn(text, "\n");
        assert_int_equal(size, strlen(cases[i].line));
        assert_memory_equal(text, cases[i].line, size);
        Ui_release(&ui);
    }
}
