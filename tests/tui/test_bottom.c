// SPDX-License-Identifier: MIT
// Tests tui/views/bottom, which shortens a message on a narrow screen.
#include "tui/views/bottom.h"
#include "tui/views/view_table.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit.h"

#include "tests/tui/picture.h"

static struct Status live(void)
{
    return (struct Status){
        .version = "0.1.0", .rate_s = 1, .display = {.tsc_hz = 2.1e9}};
}

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
        char message[256];
        struct Canvas canvas;
        struct Status status = live();
        snprintf(message, sizeof message, "Written: %s, 12 MiB. It opens it.",
                 cases[i].path);
        status.message = message;
        status.path_at = 9;
        status.path_length = (int)strlen(cases[i].path);
        Canvas_init(&canvas, false);
        Canvas_resize(&canvas, cases[i].width, 1);
        Bottom_draw(&canvas, 0, (struct BottomKeys){VIEWS, VIEW_MAIN, 0},
                    &status);
        const char *text = picture_of(&canvas);
        size_t size = strcspn(text, "\n");
        assert_int_equal(size, strlen(cases[i].line));
        assert_memory_equal(text, cases[i].line, size);
        Canvas_release(&canvas);
    }
}
