// SPDX-License-Identifier: MIT
// Tests the table of views. No key has two meanings in one view, every view
// opens from every other view, and Esc leads back.
#include "tests/sanitizers.h"
#include "tests/tui/stage.h"
#include "tui/app/frame.h"
#include "tui/app/keyboard.h"
#include "tui/app/updates.h"
#include "tui/views/navigation.h"
#include "tui/views/task_marks.h"
#include "tui/views/view_table.h"

#include <string.h>

#include "tests/unit.h"

static void set_up(int width, int height)
{
    Stage_init(width, height);
    for (unsigned tick = 0; tick < 3; tick++)
        Stage_push((struct SampleSpec){.tick = tick});
    const struct Snapshot *now = stage.ui.model.snapshot;
    assert_int_equal(Comparison_make(&stage.ui.comparison, now, now), 0);
    Frame_draw(&stage.ui);
}

// Checks that the bottom line has a key with this label, or that it has none.
static void expect_offered(const char *label, bool offered)
{
    const struct Canvas *canvas = &stage.ui.canvas;
    char line[512] = "";
    for (int x = 0; x < canvas->width && x < 500; x++)
        line[x] = (char)Canvas_cell(canvas, canvas->height - 1, x)->code;
    if ((strstr(line, label) != NULL) != offered)
        fail_msg("%s: \"%s\" is%s offered: %s",
                 Navigation_front(&stage.ui)->name, label,
                 offered ? " not" : "", line);
}

// In the flame graph, selects the box with the largest share at this depth.
static void select_box(int depth)
{
    FlameState_take(&stage.ui.flame,
                    Sample_stacks((struct SampleSpec){.tick = 5}));
    Frame_draw(&stage.ui);
    while (depth--)
        Stage_press('j');
}

// Returns a key that opens the view `id` from the visible view. Returns 0 if
// there is no such key, because the visible view uses it or has no selected
// function.
static uint32_t opener(const struct View *front, enum ViewId id)
{
    if (VIEWS[id]->opens.ability & ~front->can)
        return 0;
    for (int k = 0; k < BINDING_KEYS && VIEWS[id]->opens.keys[k]; k++) {
        uint32_t key = VIEWS[id]->opens.keys[k];
        if (View_request(front, key) == REQUEST_NONE)
            return key;
    }
    return 0;
}

// The last line shows the selected function's mean self time in the same form
// as the column AVG.
TEST(test_the_self_time_of_the_selected_function)
{
    set_up(160, 40);
    struct Function *function =
        (void *)(uintptr_t)Model_row(&stage.ui.model, 0)->now;
    function->avg_cycles = 0;
    function->avg_estimated = 1;
    function->run_samples = 0;
    Stage_expect(" a call ", false);
    function->avg_estimated = 0;
    Stage_expect("self <42 cyc = <20ns a call ", true);
    function->avg_cycles = 2100;
    Stage_expect("self 2.1k cyc = 1.0µs a call ", true);
}

TEST(test_before_the_first_snapshot)
{
    for (int id = 0; id < VIEW_COUNT; id++) {
        bool asks = id == VIEW_ANNOTATE || id == VIEW_CALLERS;
        if (id == VIEW_HELP)
            continue;
        Stage_init(80, 24);
        Navigation_open(&stage.ui, (enum ViewId)id);
        Stage_expect(asks ? "No function is selected."
                          : "Waiting for the first numbers",
                     true);
        strcpy(stage.feed.notice, "It is starting.");
        Stage_expect(asks ? "No function is selected." : "It is starting.",
                     true);
    }
}

TEST(test_without_a_sampler)
{
    static const enum ViewId views[] = {VIEW_MAIN, VIEW_CALLERS, VIEW_THREADS};
    for (int i = 0; i < 3; i++) {
        Stage_init(150, 30);
        stage.feed.newest =
            Sample_new((struct SampleSpec){.no_sampler = 1, .trouble = 1});
        assert_int_equal(Updates_poll(&stage.ui), 1);
        assert_non_null(strstr(stage.ui.message, "may not read"));
        stage.ui.message[0] = 0; // The message must not come again.
        Navigation_open(&stage.ui, views[i]);
        Stage_expect("this process may not read its own", true);
    }
}

TEST(test_an_export_that_is_not_whole)
{
    struct Answer answer = {.request = MESSAGE_HANDOUT,
                            .done = true,
                            .progress = 1,
                            .bytes = 2048,
                            .text = "/tmp/x.json",
                            .lack = "the last 4 s are missing"};
    set_up(120, 30);
    Updates_answer(&stage.ui, &answer);
    Stage_expect(
        "Timeline written: /tmp/x.json, 2.0 KiB, but the last 4 s are missing",
        true);
    assert_true(stage.ui.alert);
    answer.lack[0] = 0;
    Updates_answer(&stage.ui, &answer);
    Stage_expect("2.0 KiB. ui.perfetto.dev opens it.", true);
    assert_false(stage.ui.alert);
    // The viewer may still write the file after the process has ended.
    Pending_add(&stage.feed.pending,
                &(struct Message){.type = MESSAGE_HANDOUT, .request = 1});
    stage.feed.ended = true;
    Stage_press(PRESS_ESCAPE);
    Stage_expect("Stopping the export", true);
}

static struct Thread *threads_of(struct Snapshot *snapshot)
{
    return (struct Thread *)(uintptr_t)snapshot->threads;
}

// Two threads have the same id. One thread runs. The other thread had this id
// before, and has ended.
static struct Snapshot *with_a_tid_twice(unsigned tick)
{
    struct Snapshot *snapshot = Sample_new((struct SampleSpec){.tick = tick});
    struct Thread *threads = threads_of(snapshot);
    threads[4].tid = threads[1].tid;
    return snapshot;
}

TEST(test_a_tid_that_comes_again)
{
    struct Ui *ui = &stage.ui;
    struct Snapshot *snapshot = with_a_tid_twice(3);
    const struct List *list = &ui->lists[VIEW_THREADS];
    set_up(150, 40);
    assert_int_equal(Model_push(&ui->model, snapshot), 0);
    Stage_press('t');
    for (int i = 1; i <= 5; i++) { // Selects each thread.
        Stage_press('j');
        assert_int_equal(list->selected, i);
        Frame_draw(ui);
        assert_int_equal(list->selected, i);
    }
    for (int i = 0; i < 3; i++)
        Stage_press('k');
    assert_int_equal(Model_push(&ui->model, with_a_tid_twice(4)), 0);
    Frame_draw(ui);
    assert_int_equal(list->selected, 2);
    Stage_press(PRESS_ENTER);
    assert_true(Model_thread(&ui->model) == &ui->model.snapshot->threads[1]);
    Stage_press('t');
    Stage_expect("● Thread-1 (serve)", true);
    Stage_expect("● has ended", false);
    // Now the second thread has ended, too, and a third thread has the same id.
    snapshot = with_a_tid_twice(5);
    threads_of(snapshot)[2].tid = snapshot->threads[1].tid;
    threads_of(snapshot)[1].ended = 1;
    assert_int_equal(Model_push(&ui->model, snapshot), 0);
    Stage_expect("● Thread-1 (serve) (e", true);
    Stage_expect("● pool-0", false);
    assert_true(ui->threads.pin.ended);
}

// The latency view has the rows, the filter, the search and the selection of
// the main view.
TEST(test_latency)
{
    struct Ui *ui = &stage.ui;
    set_up(150, 40);
    Stage_type("jj");
    Stage_expect("▸ ", true);
    uint64_t chosen = Navigation_function(ui);
    Stage_press('l');
    assert_int_equal(ui->view, VIEW_LATENCY);
    Stage_expect("IN FLIGHT  OLDEST      P50     P99▼", true);
    // The third snapshot is two seconds later than the second.
    Stage_expect("18s!", false);
    Stage_expect("20s!", true);
    Stage_expect("from begin to return, awaits in", true);
    assert_true(Navigation_function(ui) == chosen);
    Stage_type("/idle");
    Stage_press(PRESS_BACKSPACE);
    Stage_press(PRESS_ENTER);
    assert_int_equal(Navigation_function(ui), 11);
    Stage_press(PRESS_ENTER);
    assert_int_equal(ui->view, VIEW_ANNOTATE);
    Stage_press(PRESS_ESCAPE);
    assert_int_equal(ui->view, VIEW_LATENCY);
    Stage_press('l');
    assert_int_equal(ui->view, VIEW_MAIN);
    assert_int_equal(Navigation_function(ui), 11);
    Stage_expect("IN FLIGHT", false);
    Stage_expect("SHARE▼", true);
    Stage_type("l>");
    Stage_expect("MAX▼", true);
    Stage_press(PRESS_F1 + 5);
    Stage_expect("AWAIT", true);
    Stage_expect("WAITED", false);
    Stage_press(PRESS_ESCAPE);
    Stage_press('q');
    assert_int_equal(ui->view, VIEW_MAIN);
    assert_false(ui->quit);
}

// A task takes too long after ten times the P50 of its coroutine, if ten calls
// have ended.
TEST(test_a_task_that_takes_too_long)
{
    struct TaskGroup group = {.id = 8, .count = 1}; // The P50 is 312 ms.
    size_t alerts = 0;

    set_up(80, 24);
    Stage_type("T");
    for (int x = 0; x < 80; x++)
        alerts += Canvas_cell(&stage.ui.canvas, 5, x)->style == STYLE_ALERT;
    assert_int_equal(alerts, strlen(">1.4s"));
    assert_false(TaskMarks_is_long(&stage.ui.model, &group, 3.1));
    assert_true(TaskMarks_is_long(&stage.ui.model, &group, 3.2));
    group.count = Model_row_of(&stage.ui.model, 8)->now->calls - 9;
    assert_false(TaskMarks_is_long(&stage.ui.model, &group, 3.2));
}

TEST(test_no_latencies)
{
    struct Snapshot *snapshot = Sample_new((struct SampleSpec){.tick = 0});
    struct Function *functions = Sample_functions(snapshot);
    for (size_t i = 0; i < snapshot->function_count; i++) {
        functions[i].wall_max_s = NAN;
        functions[i].in_flight = NULL_U64;
    }
    Stage_init(80, 24);
    assert_int_equal(Model_push(&stage.ui.model, snapshot), 0);
    Stage_press('l');
    Stage_expect("no latencies measured", true);
    stage.ui.model.past = true;
    Stage_expect("no latencies recorded", true);
    Stage_expect("IN FLIGHT", true);
}

// Writes to `out` everything that a key can change, except the message.
static void picture(struct Bytes *out)
{
    const struct Ui *ui = &stage.ui;
    const struct Canvas *canvas = &ui->canvas;
    Bytes_init(out);
    for (int y = 0; y < canvas->height - 1; y++)
        for (int x = 0; x < canvas->width; x++) {
            const struct Cell *cell = Canvas_cell(canvas, y, x);
            Bytes_put_u32(out, cell->code);
            Bytes_put_u8(out, cell->style);
        }
    Bytes_put_u8(out, ui->prompt.kind);
    Bytes_put_u8(out, ui->view);
    Bytes_put_u8(out, ui->quit);
    Bytes_put_u8(out, ui->leave);
    assert_int_equal(out->error, 0);
}

// Opens a view with all of its data. Selects a row for which each key of the
// view has an effect.
static void open_whole(enum ViewId id)
{
    static const char *const moves[VIEW_COUNT] = {
        [VIEW_MAIN] = "jjj",      [VIEW_CALLERS] = "jjj",
        [VIEW_ANNOTATE] = "jjjj", [VIEW_OPCODES] = "j",
        [VIEW_THREADS] = "jj",    [VIEW_FLAME] = "jj",
        [VIEW_LATENCY] = "jjj",   [VIEW_LOOPS] = "j",
        [VIEW_EXCEPTIONS] = "j",  [VIEW_TASK_GROUP] = "j",
        [VIEW_LINES] = "j"};
    set_up(310, 40);
    stage.ui.task_group =
        TaskGroup_key(&stage.ui.model.snapshot->tasks_groups[0]);
    Navigation_open(&stage.ui, id);
    if (id == VIEW_FLAME)
        select_box(0);
    stage.feed.listing.newest =
        Sample_listing(1, "tests/tui/sample_source.txt");
    Updates_poll(&stage.ui);
    Frame_draw(&stage.ui);
    for (const char *key = moves[id]; key && *key; key++)
        Stage_press((uint32_t)*key);
}

// Draws the view after the key `binding` (or no key if it is NULL) and one more
// snapshot. A change since the baseline needs a newer snapshot than the
// baseline's.
static void check_after(enum ViewId id, const struct Binding *binding,
                        struct Bytes *out)
{
    open_whole(id);
    if (binding) {
        bool back = binding->request == REQUEST_CLOSE && id != VIEW_MAIN;
        expect_offered(back ? "q Back" : binding->label, true);
        Keyboard_press(&stage.ui, binding->keys[0]);
    }
    assert_int_equal(
        Model_push(&stage.ui.model, Sample_new((struct SampleSpec){.tick = 3})),
        0);
    Frame_draw(&stage.ui);
    picture(out);
}

static void check_key(enum ViewId id, const struct Binding *binding)
{
    struct Bytes without, with;
    char name[KEY_NAME_MAX];
    // A key that only sends a request to the process does not change the
    // picture; test_screen.py tests such keys.
    if (!binding->label || binding->request == REQUEST_REARM)
        return;
    check_after(id, NULL, &without);
    check_after(id, binding, &with);
    if (without.size == with.size &&
        !memcmp(without.data, with.data, with.size))
        fail_msg("%s: %s is offered and does nothing", VIEWS[id]->name,
                 Key_name(name, binding->keys[0]));
    Bytes_release(&without);
    Bytes_release(&with);
}

TEST(test_every_key_that_is_offered)
{
    for (int id = 0; id < VIEW_COUNT; id++) {
        const struct View *view = VIEWS[id];
        for (const struct Binding *own = view->own; own && own->keys[0]; own++)
            check_key((enum ViewId)id, own);
        for (int i = 0; i < VIEW_COUNT && !view->alone; i++)
            if (i != id &&
                opener(view, (enum ViewId)i) == VIEWS[i]->opens.keys[0])
                check_key((enum ViewId)id, &VIEWS[i]->opens);
        for (size_t i = 0; i < KEYMAP_COUNT && !view->alone; i++)
            if (!(KEYMAP[i].ability & ~(view->can | CAN_REACH)))
                check_key((enum ViewId)id, &KEYMAP[i]);
    }
}

TEST(test_every_key_in_every_view)
{
    static const int sizes[][2] = {{60, 12}, {150, 40}, {30, 5}};
    for (int size = 0; size < (UNDER_ASAN ? 1 : 3); size++)
        for (int id = 0; id < VIEW_COUNT; id++)
            for (uint32_t key = 1; key <= PRESS_WHEEL_DOWN; key++) {
                if (key == 0x100)
                    key = PRESS_UP;
                set_up(sizes[size][0], sizes[size][1]);
                Navigation_open(&stage.ui, (enum ViewId)id);
                Frame_draw(&stage.ui);
                Stage_press(key);
                Stage_press(key);
                Stage_press(PRESS_ESCAPE);
            }
}

// `n` opens the hottest lines, and during a search it goes to the next match.
TEST(test_lines_and_next_match_share_a_key)
{
    set_up(120, 30);
    Stage_press('n');
    assert_int_equal(stage.ui.view, VIEW_LINES);
    Stage_expect("app/run_benchmark.py:511", true);
    Stage_press('n');
    assert_int_equal(stage.ui.view, VIEW_MAIN);
    for (const char *key = "/parse\r"; *key; key++)
        Stage_press(*key == '\r' ? PRESS_ENTER : (uint32_t)*key);
    Stage_press('n');
    assert_int_equal(stage.ui.view, VIEW_MAIN);
    Stage_press(PRESS_ESCAPE); // drops the search
    Stage_press('n');
    assert_int_equal(stage.ui.view, VIEW_LINES);
}
