// SPDX-License-Identifier: MIT
// Tests which parts of a function's time tui/views/time_bar shows.
#include "tui/views/time_bar.h"

#include <math.h>
#include <string.h>

#include "tests/unit.h"

#include "tests/tui/picture.h"

static const char *text;

// Draws the bar of a function with these parts. 20 % of its time is Python
// code.
static void draw_in(const struct Snapshot *snapshot, struct Function *function,
                    struct PartShares *parts, int width)
{
    struct Row row = {.id = 7, .now = function};
    struct Canvas canvas;

    function->total_parts = parts;
    function->total_part_count = parts != NULL;
    Canvas_init(&canvas, false);
    assert_int_equal(Canvas_resize(&canvas, width, 1), 0);
    TimeBar_draw(&canvas, (struct Box){0, 2, width - 3}, &row, snapshot);
    text = picture_of(&canvas);
    Canvas_release(&canvas);
}

static void draw(struct Function *function, struct PartShares *parts,
                 const struct TaskGroup *tasks, int width)
{
    const struct Snapshot snapshot = {.tasks_groups = tasks,
                                      .tasks_group_count = tasks != NULL};

    draw_in(&snapshot, function, parts, width);
}

static void draw_awaits(struct Function *function, struct PartShares *parts,
                        const struct TaskGroup *tasks,
                        const struct AwaitRow *awaits)
{
    const struct Snapshot snapshot = {.tasks_groups = tasks,
                                      .tasks_group_count = tasks != NULL,
                                      .tasks_awaits = awaits,
                                      .tasks_await_count = 1};

    draw_in(&snapshot, function, parts, 120);
}

static struct Function waiting(struct PartShares *parts)
{
    *parts = (struct PartShares){.c = 0.1, .gc = 0.05};
    parts->waits[WAITS_SOCKET] = 0.5;
    parts->waits[WAITS_LOCK] = 0.15;
    return (struct Function){
        .total_share = 1, .await_s = NAN, .calls_per_s = 10};
}

// Returns how often the glyph is in the text.
static int count(const char *glyph)
{
    int found = 0;
    for (const char *at = text; (at = strstr(at, glyph)); at++)
        found++;
    return found;
}

TEST(test_the_parts_of_the_time)
{
    struct PartShares parts;
    struct Function function = waiting(&parts);

    draw(&function, &parts, NULL, 120);
    assert_non_null(strstr(text,
                           "▒ socket 50%  █ Python 20%  ▒ lock 15%  "
                           "▓ C 10%  ▓ gc 5%"));
    // The bar has 29 cells. The legend repeats a cell of each part.
    assert_int_equal(count("█"), 5 + 1);
    assert_int_equal(count("▒"), 15 + 5 + 2);
    assert_int_equal(count("▓"), 4 + 2);
    draw(&function, &parts, NULL, 80);
    assert_non_null(strstr(text, "socket 50%  █ Python 20%  ▒ lock 15%"));
}

// Awaits are additional parts, because suspended calls are on no stack.
TEST(test_awaits_come_on_top)
{
    const struct TaskGroup tasks = {.id = 7, .waits_in = "Queue.get"};
    struct PartShares parts;
    struct Function function = waiting(&parts);

    function.await_s = 0.9;
    draw(&function, &parts, NULL, 120);
    assert_non_null(strstr(text, "░ awaiting 90%  ▒ socket 5%"));
    draw(&function, &parts, &tasks, 120);
    assert_non_null(strstr(text, "░ awaiting 90% in Queue.get  ▒ socket 5%"));
}

// Hooks have counted the awaits. The bar divides them by kind.
TEST(test_kinds_of_awaits)
{
    const struct AwaitRow awaits = {
        .id = 7, .of = {[AWAITS_QUEUE] = 6, [AWAITS_FUTURE] = 3}};
    const struct TaskGroup tasks = {.id = 7, .waits_in = "Queue.get"};
    struct PartShares parts;
    struct Function function = waiting(&parts);

    function.await_s = 0.9;
    draw_awaits(&function, &parts, &tasks, &awaits);
    assert_non_null(strstr(text,
                           "░ awaiting a queue 60%  "
                           "░ awaiting a future 30% in Queue.get  "
                           "▒ socket 5%"));
    // No call has ended yet.
    function.await_s = NAN;
    draw_awaits(&function, &parts, NULL, &awaits);
    assert_non_null(strstr(text,
                           "░ awaiting a queue 60%  "
                           "░ awaiting a future 30%  ▒ socket 5%"));
    // Without samples of the function, the awaits are everything.
    function.total_share = 0;
    draw_awaits(&function, NULL, NULL, &awaits);
    assert_non_null(strstr(text,
                           "░ awaiting a queue 67%  "
                           "░ awaiting a future 33%"));
}

TEST(test_what_is_not_known_is_not_drawn)
{
    struct PartShares parts;
    struct Function function = waiting(&parts);

    draw(&function, NULL, NULL, 80);
    assert_int_equal(strspn(text, " \n"), strlen(text));
    parts.waits[WAITS_CPU] = NAN;
    draw(&function, &parts, NULL, 80);
    assert_non_null(strstr(text, "socket 50%  █ Python 20%  ▒ lock 15%"));
    parts.waits[WAITS_SLEEP] = NAN;
    draw(&function, &parts, NULL, 80);
    assert_int_equal(strspn(text, " \n"), strlen(text));
}

TEST(test_hostile_parts)
{
    static const double values[] = {-1e308, -1, 0, 1e-300, 1e308, INFINITY};
    struct AwaitRow awaits = {.id = 7, .of = {1, NAN, 1e308}};
    struct PartShares parts;
    struct Function function = waiting(&parts);

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
            parts.c = values[i];
            parts.waits[WAITS_FILE] = values[k];
            function.await_s = values[(i + k) % 6];
            draw(&function, &parts, NULL, 20 + (int)(i * k));
            awaits.of[AWAITS_TASK] = values[(i + 1) % 6];
            draw_awaits(&function, k % 2 ? &parts : NULL, NULL, &awaits);
        }
}
