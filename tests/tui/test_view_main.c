// SPDX-License-Identifier: MIT
// Compares the main screen with the screens in golden/, which were drawn from
// made-up snapshots. GOLDEN=write stores the current screens; read the
// difference before you commit it.
#include "tests/tui/sample.h"
#include "tui/screen/layout.h"
#include "tui/views/bottom.h"
#include "tui/views/view_main.h"
#include "tui/views/view_table.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FOLDER "tests/tui/golden/" // relative to the project's root

struct Scene {
    const char *golden;
    int width;
    int height;
    struct SampleWish wish;
    unsigned ticks;
    bool ascii;
    bool bare;
    struct Status status;
    void (*change)(struct Model *model);
};

static struct Status live(void)
{
    return (struct Status){
        .version = "0.1.0", .rate_s = 1, .display = {.tsc_hz = 2.1e9}};
}

static void compose(const struct Scene *scene, struct Canvas *canvas)
{
    struct Model model;
    struct Layout layout;
    Model_init(&model);
    for (unsigned tick = 0; tick < scene->ticks; tick++) {
        struct SampleWish wish = scene->wish;
        wish.tick = tick;
        assert_int_equal(Model_push(&model, Sample_new(wish)), 0);
    }
    if (scene->change)
        scene->change(&model);
    struct List list = {0};
    Canvas_init(canvas, scene->ascii);
    Canvas_resize(canvas, scene->width, scene->height);
    Layout_main(&layout, scene->width, scene->height, scene->bare);
    ViewMain_draw(canvas, &model, &list, &layout, &scene->status);
    if (layout.footer_y >= 0)
        Bottom_draw(canvas, layout.footer_y,
                    (struct BottomKeys){VIEWS, VIEW_MAIN,
                                        VIEWS[VIEW_MAIN]->can | CAN_REACH},
                    &scene->status);
    Model_release(&model);
}

static void read_file(const char *path, struct Bytes *text)
{
    char buffer[4096];
    size_t size;
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s is missing: GOLDEN=write makes it", path);
    while ((size = fread(buffer, 1, sizeof buffer, file)) > 0)
        Bytes_put(text, buffer, size);
    fclose(file);
    Bytes_put(text, "", 1);
}

static void write_file(const char *path, const struct Bytes *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text->data, 1, text->size, file), text->size);
    assert_int_equal(fclose(file), 0);
}

static void check(const struct Scene *scene)
{
    struct Canvas canvas;
    struct Bytes drawn, stored;
    char path[128];
    const char *mode = getenv("GOLDEN");
    Bytes_init(&drawn);
    Bytes_init(&stored);
    compose(scene, &canvas);
    Canvas_write(&canvas, &drawn);
    snprintf(path, sizeof path, FOLDER "%s.txt", scene->golden);
    if (mode && strcmp(mode, "write") == 0)
        write_file(path, &drawn);
    Bytes_put(&drawn, "", 1);
    read_file(path, &stored);
    if (strcmp((char *)drawn.data, (char *)stored.data) != 0)
        fail_msg("%s differs; drawn is:\n%s", path, (char *)drawn.data);
    Bytes_release(&drawn);
    Bytes_release(&stored);
    Canvas_release(&canvas);
}

static void test_ascii_and_time(void **state)
{
    struct Scene scene = {.golden = "main-ascii-time",
                          .width = 120,
                          .height = 24,
                          .ticks = 6,
                          .ascii = true,
                          .status = live()};
    (void)state;
    scene.status.display.ns = true;
    check(&scene);
}

static void test_without_a_sampler(void **state)
{
    struct Scene scene = {.golden = "main-no-sampler",
                          .width = 120,
                          .height = 24,
                          .ticks = 2,
                          .wish = {.no_sampler = 1, .no_overhead = 1},
                          .status = live()};
    (void)state;
    scene.status.paused = true;
    check(&scene);
}

static void filter_and_reset(struct Model *model)
{
    Model_reset(model);
    Model_push(model, Sample_new((struct SampleWish){.tick = 72}));
    Model_filter(model, "benchmark");
    Model_sort_by(model, COLUMN_CALLS);
    Model_invert(model);
}

// A path loses directories, but neither its file name nor the words around it
// are cut. A name that is longer than the line keeps its end.
static void test_a_long_path_in_a_message(void **state)
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
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char message[256];
        struct Canvas canvas;
        struct Bytes text;
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
        Bytes_init(&text);
        Canvas_write(&canvas, &text);
        Bytes_put(&text, "", 1);
        char *end = strchr((char *)text.data, '\n');
        while (end && (*end = 0, end > (char *)text.data) && end[-1] == ' ')
            end--;
        assert_string_equal((char *)text.data, cases[i].line);
        Bytes_release(&text);
        Canvas_release(&canvas);
    }
}

static void test_ended_filtered_reset(void **state)
{
    struct Scene scene = {.golden = "main-ended-filter",
                          .width = 120,
                          .height = 24,
                          .ticks = 3,
                          .status = live(),
                          .change = filter_and_reset};
    (void)state;
    scene.status.ended = true;
    scene.status.message = "Timeline written: /srv/app/ocular_trace.json";
    check(&scene);
}

static void test_prompt(void **state)
{
    struct Scene scene = {.golden = "main-prompt",
                          .width = 60,
                          .height = 12,
                          .ticks = 1,
                          .status = live()};
    (void)state;
    scene.status.prompt = "Save the screen as JSON to:";
    scene.status.typed = "/a/long/path/that/does/not/fit/ocular-48213.json";
    scene.status.silent_s = 12;
    check(&scene);
}

static void test_before_the_first_snapshot(void **state)
{
    struct Scene scene = {
        .golden = "main-waiting", .width = 80, .height = 24, .status = live()};
    (void)state;
    check(&scene);
}

static void test_batch(void **state)
{
    struct Scene scene = {.golden = "main-batch",
                          .width = 150,
                          .height = 17,
                          .ticks = 2,
                          .bare = true,
                          .status = live()};
    (void)state;
    check(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ascii_and_time),
        cmocka_unit_test(test_without_a_sampler),
        cmocka_unit_test(test_a_long_path_in_a_message),
        cmocka_unit_test(test_ended_filtered_reset),
        cmocka_unit_test(test_prompt),
        cmocka_unit_test(test_before_the_first_snapshot),
        cmocka_unit_test(test_batch),
    };
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
