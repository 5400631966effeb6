// SPDX-License-Identifier: MIT
// Tests the table of views: no key has two meanings in one view, every view
// opens from every other view, and Esc leads back.
#include "tests/sanitizers.h"
#include "tests/tui/stage.h"
#include "tui/app/frame.h"
#include "tui/app/keyboard.h"
#include "tui/app/updates.h"
#include "tui/views/navigation.h"
#include "tui/views/view_table.h"

#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void set_up(struct Stage *stage, int width, int height)
{
    Stage_init(stage, width, height);
    for (unsigned tick = 0; tick < 3; tick++)
        Stage_push(stage, (struct SampleWish){.tick = tick});
    Frame_draw(&stage->ui);
}

// Checks whether the bottom line has a key with this label.
static void expect_offered(struct Stage *stage, const char *label, bool offered)
{
    const struct Canvas *canvas = &stage->ui.canvas;
    char line[512] = "";
    for (int x = 0; x < canvas->width && x < 500; x++)
        line[x] = (char)Canvas_cell(canvas, canvas->height - 1, x)->code;
    if ((strstr(line, label) != NULL) != offered)
        fail_msg("%s: \"%s\" is%s offered: %s",
                 Navigation_front(&stage->ui)->name, label,
                 offered ? " not" : "", line);
}

// Checks that keys which need a function are refused with this message.
static void expect_refused(struct Stage *stage, const char *words)
{
    static const uint32_t keys[] = {'a', 'c', PRESS_ENTER};
    enum ViewId front = stage->ui.view;
    stage->ui.message[0] = 0;
    Frame_draw(&stage->ui);
    expect_offered(stage, "a Re-arm", false);
    expect_offered(stage, "Enter Annotate", false);
    expect_offered(stage, "c Callers", false);
    assert_int_equal(Navigation_function(&stage->ui), 0);
    for (int i = 0; i < 3; i++) {
        const struct View *view = VIEWS[front];
        if (View_request(view, keys[i]) >= REQUEST_OWN ||
            View_opened_by(VIEWS, keys[i]) == front)
            continue;
        Stage_press(stage, keys[i]);
        assert_int_equal(stage->ui.view, front);
        if (!strstr(stage->ui.message, words))
            fail_msg("%s: \"%s\", not \"%s\"", view->name, stage->ui.message,
                     words);
    }
}

// Selects the hottest box at this depth.
static void select_box(struct Stage *stage, int depth)
{
    FlameState_take(&stage->ui.flame,
                    Sample_stacks((struct SampleWish){.tick = 5}));
    Frame_draw(&stage->ui);
    while (depth--)
        Stage_press(stage, 'j');
}

static void check_binding(const struct Binding *binding, const char *what)
{
    if (!binding->about || !*binding->about || !binding->keys[0])
        fail_msg("%s: a key without words", what);
    assert_true(!binding->label || binding->importance > 0);
}

static void test_table(void **state)
{
    (void)state;
    for (int id = 0; id < VIEW_COUNT; id++) {
        const struct View *view = VIEWS[id];
        assert_non_null(view->name);
        assert_non_null(view->draw);
        assert_non_null(view->press);
        assert_int_equal(view->find != NULL, (view->can & CAN_SEARCH) != 0);
        assert_int_equal(view->begin_search != NULL,
                         view->restart_search != NULL);
        assert_int_equal(view->function != NULL,
                         (view->can & CAN_FUNCTION) != 0);
        assert_int_equal(view->opens.keys[0] == 0, id == VIEW_MAIN);
        if (id != VIEW_MAIN)
            check_binding(&view->opens, view->name);
        for (int k = 0; k < BINDING_KEYS && view->opens.keys[k]; k++) {
            uint32_t key = view->opens.keys[k];
            assert_int_equal(View_opened_by(VIEWS, key),
                             id);          // opens no other view
            assert_null(Keymap_find(key)); // has no other meaning
        }
        for (const struct Binding *own = view->own; own && own->keys[0];
             own++) {
            check_binding(own, view->name);
            assert_true(own->request >= REQUEST_OWN);
            for (int k = 0; k < BINDING_KEYS && own->keys[k]; k++)
                assert_int_equal(View_request(view, own->keys[k]),
                                 own->request); // no key twice
        }
    }
    assert_int_equal(View_opened_by(VIEWS, 0), VIEW_COUNT);
    assert_int_equal(View_opened_by(VIEWS, 'X'), VIEW_COUNT);
}

// Returns a key that opens view `id` from the front view. Returns 0 if the
// front view uses all of these keys itself, or cannot have a selected function.
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

static void test_every_view_from_every_view(void **state)
{
    (void)state;
    for (int from = 0; from < VIEW_COUNT; from++)
        for (int to = 1; to < VIEW_COUNT; to++) {
            struct Stage stage;
            set_up(&stage, 100, 30);
            Navigation_open(&stage.ui, (enum ViewId)from);
            if (from == VIEW_FLAME)
                select_box(&stage, 3);
            Frame_draw(&stage.ui);
            uint32_t key = opener(VIEWS[from], (enum ViewId)to);
            if (key && to != from) {
                Stage_press(&stage, key);
                assert_int_equal(stage.ui.view, to);
                Stage_press(&stage, PRESS_ESCAPE);
            }
            assert_int_equal(stage.ui.view, from);
            if (from != VIEW_MAIN)
                Stage_press(&stage, PRESS_ESCAPE);
            assert_int_equal(stage.ui.view, VIEW_MAIN);
            Stage_release(&stage);
        }
}

// The file of an export exists already. A key that was pressed before the
// question is visible does not answer it.
static void test_a_question_that_comes_late(void **state)
{
    static const struct Answer exists = {
        .request = MESSAGE_EXPORT, .failed = true, .error = EEXIST};
    struct Stage stage;
    struct Ui *ui = &stage.ui;
    struct Prompt *prompt = &ui->prompt;
    (void)state;
    set_up(&stage, 150, 40);
    Stage_press(&stage, 'e');
    Stage_press(&stage, 21); // Ctrl-U clears the name
    Stage_type(&stage, "old.json");
    Stage_press(&stage, PRESS_ENTER);
    Stage_press(&stage, '/');
    Updates_answer(ui, &exists);
    Stage_type(&stage, "y");
    assert_int_equal(prompt->kind, PROMPT_SEARCH);
    assert_string_equal(prompt->text, "y");
    assert_string_equal(ui->message, ""); // no request was made
    Stage_press(&stage, PRESS_ESCAPE);
    assert_int_equal(prompt->kind, PROMPT_OVERWRITE_EXPORT);
    assert_string_equal(prompt->text, "old.json");
    Stage_expect(&stage, "Overwrite? y/n", true);
    Stage_press(&stage, 'n');
    Frame_draw(ui); // the question is asked only once
    assert_int_equal(prompt->kind, PROMPT_NONE);

    Updates_answer(ui, &exists);
    Keyboard_press(ui, 'y'); // the question is not visible yet
    assert_string_equal(ui->message, "");
    Stage_expect(&stage, "Overwrite? y/n", true);
    Stage_press(&stage, 'y');
    // there is no process
    assert_non_null(strstr(ui->message, "cannot be asked"));
    assert_int_equal(prompt->kind, PROMPT_NONE);
    Stage_release(&stage);
}

// If the selected function is not listed any more, its neighbour is not used
// instead.
static void test_a_function_that_has_gone(void **state)
{
    struct Stage stage;
    struct Ui *ui = &stage.ui;
    struct Snapshot *later = Sample_new((struct SampleWish){.tick = 9});
    (void)state;
    set_up(&stage, 150, 40);
    Stage_press(&stage, PRESS_ENTER);
    assert_true(Navigation_function(ui) == 1);
    expect_offered(&stage, "a Re-arm", true);
    later->functions++;
    later->function_count--;
    assert_int_equal(Model_push(&ui->model, later), 0);
    Frame_draw(ui);
    expect_refused(&stage, "The process does not list this function.");
    Stage_release(&stage);
}

static void test_no_function_at_all(void **state)
{
    struct Stage stage;
    (void)state;
    set_up(&stage, 150, 40);
    Stage_press(&stage, 't');
    expect_refused(&stage, "Threads: there is nothing to do that with here.");
    Stage_press(&stage, PRESS_ESCAPE);
    Model_filter(&stage.ui.model, "nowhere to be found");
    expect_refused(&stage, "No function is selected here.");
    Stage_release(&stage);
}

// A view that is opened too early shows what it waits for.
static void test_before_the_first_snapshot(void **state)
{
    (void)state;
    for (int id = 0; id < VIEW_COUNT; id++) {
        bool asks = id == VIEW_ANNOTATE || id == VIEW_CALLERS;
        struct Stage stage;
        if (id == VIEW_HELP)
            continue;
        Stage_init(&stage, 80, 24);
        Navigation_open(&stage.ui, (enum ViewId)id);
        Stage_expect(&stage,
                     asks ? "No function is selected."
                          : "Waiting for the first numbers",
                     true);
        strcpy(stage.feed.notice, "It is starting.");
        Stage_expect(&stage,
                     asks ? "No function is selected." : "It is starting.",
                     true);
        Stage_release(&stage);
    }
}

// Without a sampler there are no shares; views that need them show the reason.
static void test_without_a_sampler(void **state)
{
    static const enum ViewId views[] = {VIEW_MAIN, VIEW_CALLERS, VIEW_THREADS};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct Stage stage;
        Stage_init(&stage, 150, 30);
        stage.feed.newest =
            Sample_new((struct SampleWish){.no_sampler = 1, .trouble = 1});
        assert_int_equal(Updates_poll(&stage.ui), 1);
        assert_non_null(strstr(stage.ui.message, "may not read"));
        stage.ui.message[0] = 0; // the message comes only once
        Navigation_open(&stage.ui, views[i]);
        Stage_expect(&stage, "this process may not read its own", true);
        Stage_release(&stage);
    }
}

static void test_clicks_among_threads(void **state)
{
    struct Stage stage;
    struct Ui *ui = &stage.ui;
    (void)state;
    set_up(&stage, 150, 40);
    Stage_press(&stage, 't');
    Stage_press(&stage, Key_click(20, ui->layout.body_y + 2));
    assert_int_equal(ui->lists[VIEW_THREADS].selected, 2);
    assert_int_equal(ui->view, VIEW_THREADS);
    Stage_press(&stage, Key_click(20, ui->layout.body_y + 2));
    assert_int_equal(ui->view, VIEW_MAIN);
    assert_true(ui->model.one_thread);
    assert_int_equal(ui->model.thread.tid, 48214);
    Stage_press(&stage, 't');
    Stage_press(&stage, Key_click(20, ui->layout.table_y)); // sorts by CPU TIME
    Stage_press(&stage, Key_click(20, ui->layout.table_y));
    assert_true(ui->threads.invert);
    Stage_release(&stage);
}

static struct Thread *threads_of(struct Snapshot *snapshot)
{
    return (struct Thread *)(uintptr_t)snapshot->threads;
}

// Two threads have the same id: one runs, and the other had the id before and
// has ended.
static struct Snapshot *with_a_tid_twice(unsigned tick)
{
    struct Snapshot *snapshot = Sample_new((struct SampleWish){.tick = tick});
    struct Thread *threads = threads_of(snapshot);
    threads[4].tid = threads[1].tid;
    return snapshot;
}

static void test_a_tid_that_comes_again(void **state)
{
    struct Stage stage;
    struct Ui *ui = &stage.ui;
    struct Snapshot *snapshot = with_a_tid_twice(3);
    const struct List *list = &ui->lists[VIEW_THREADS];
    (void)state;
    set_up(&stage, 150, 40);
    assert_int_equal(Model_push(&ui->model, snapshot), 0);
    Stage_press(&stage, 't');
    for (int i = 1; i <= 5; i++) { // each of them can be selected
        Stage_press(&stage, 'j');
        assert_int_equal(list->selected, i);
        Frame_draw(ui);
        assert_int_equal(list->selected, i);
    }
    for (int i = 0; i < 3; i++)
        Stage_press(&stage, 'k');
    assert_int_equal(Model_push(&ui->model, with_a_tid_twice(4)), 0);
    Frame_draw(ui);
    assert_int_equal(list->selected, 2);
    Stage_press(&stage, PRESS_ENTER);
    assert_true(Model_thread(&ui->model) == &ui->model.snapshot->threads[1]);
    Stage_press(&stage, 't');
    Stage_expect(&stage, "● Thread-1 (serve)", true);
    Stage_expect(&stage, "● has ended", false);
    // The second thread ends, too, and a third thread gets its id.
    snapshot = with_a_tid_twice(5);
    threads_of(snapshot)[2].tid = snapshot->threads[1].tid;
    threads_of(snapshot)[1].ended = 1;
    assert_int_equal(Model_push(&ui->model, snapshot), 0);
    Stage_expect(&stage, "● Thread-1 (serve) (e…", true);
    Stage_expect(&stage, "● pool-0", false);
    assert_true(ui->threads.pin.ended);
    Stage_release(&stage);
}

// Shares of one thread are not compared with those of all threads, and a
// message says that the baseline is dropped.
static void test_a_thread_and_a_baseline(void **state)
{
    struct Stage stage;
    struct Ui *ui = &stage.ui;
    (void)state;
    set_up(&stage, 150, 40);
    Stage_press(&stage, 'b');
    Stage_expect(&stage, "change in", true);
    Stage_press(&stage, 't');
    Stage_press(&stage, 'j');
    Stage_press(&stage, PRESS_ENTER);
    assert_true(ui->model.one_thread);
    assert_non_null(strstr(ui->message,
                           "The baseline is dropped: shares "
                           "are those of thread MainThread"));
    Stage_expect(&stage, "change in", false);
    Stage_press(&stage, 'b');
    Stage_press(&stage, PRESS_ESCAPE);
    assert_false(ui->model.one_thread);
    assert_non_null(strstr(ui->message,
                           "The baseline is dropped: shares "
                           "are those of all threads"));
    Stage_expect(&stage, "change in", false);
    Stage_release(&stage);
}

// --- What is offered is done

// Collects everything that a key may change, except the message.
static void picture(struct Stage *stage, struct Bytes *out)
{
    const struct Ui *ui = &stage->ui;
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

// Opens a view with all of its data, and selects a row on which each of its
// keys works.
static void open_whole(struct Stage *stage, enum ViewId id)
{
    static const char *const moves[VIEW_COUNT] = {
        [VIEW_MAIN] = "jjj",  [VIEW_CALLERS] = "jjj", [VIEW_ANNOTATE] = "jjjj",
        [VIEW_OPCODES] = "j", [VIEW_THREADS] = "jj",  [VIEW_FLAME] = "jj"};
    set_up(stage, 250, 40);
    Navigation_open(&stage->ui, id);
    if (id == VIEW_FLAME)
        select_box(stage, 0);
    stage->feed.listing.newest =
        Sample_listing(1, "tests/tui/sample_source.txt");
    Updates_poll(&stage->ui);
    Frame_draw(&stage->ui);
    for (const char *key = moves[id]; key && *key; key++)
        Stage_press(stage, (uint32_t)*key);
}

// Draws the view after `binding` (NULL: no key) and a further snapshot, because
// a change since the baseline needs a newer snapshot.
static void check_after(enum ViewId id, const struct Binding *binding,
                        struct Bytes *out)
{
    struct Stage stage;
    open_whole(&stage, id);
    if (binding) {
        bool back = binding->request == REQUEST_CLOSE && id != VIEW_MAIN;
        expect_offered(&stage, back ? "q Back" : binding->label, true);
        Keyboard_press(&stage.ui, binding->keys[0]);
    }
    assert_int_equal(
        Model_push(&stage.ui.model, Sample_new((struct SampleWish){.tick = 3})),
        0);
    Frame_draw(&stage.ui);
    picture(&stage, out);
    Stage_release(&stage);
}

static void check_key(enum ViewId id, const struct Binding *binding)
{
    struct Bytes without, with;
    char name[KEY_NAME_MAX];
    // Requests to the process do not change the picture; test_screen.py tests
    // them.
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

static void test_every_key_that_is_offered(void **state)
{
    (void)state;
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

// No key crashes a view, at any size.
static void test_every_key_in_every_view(void **state)
{
    static const int sizes[][2] = {{60, 12}, {150, 40}, {30, 5}};
    (void)state;
    for (int size = 0; size < (UNDER_ASAN ? 1 : 3); size++)
        for (int id = 0; id < VIEW_COUNT; id++)
            for (uint32_t key = 1; key <= PRESS_WHEEL_DOWN; key++) {
                struct Stage stage;
                if (key == 0x100)
                    key = PRESS_UP;
                set_up(&stage, sizes[size][0], sizes[size][1]);
                Navigation_open(&stage.ui, (enum ViewId)id);
                Frame_draw(&stage.ui);
                Stage_press(&stage, key);
                Stage_press(&stage, key);
                Stage_press(&stage, PRESS_ESCAPE);
                Stage_release(&stage);
            }
}

// A process that has ended cannot be paused. If it ended during a pause, its
// last snapshot is still waiting.
static void test_pausing_what_has_ended(void **state)
{
    struct Stage stage;
    (void)state;
    set_up(&stage, 150, 40);
    expect_offered(&stage, "Space Pause", true);
    stage.feed.ended = true;
    Frame_draw(&stage.ui);
    expect_offered(&stage, "Space Pause", false);
    Stage_press(&stage, ' ');
    assert_false(stage.feed.paused);
    assert_non_null(strstr(stage.ui.message, "It has ended"));
    stage.feed.paused = true;
    Stage_press(&stage, ' ');
    assert_false(stage.feed.paused);
    Stage_release(&stage);
}

// Each letter searches from the place where the search began. A letter without
// a match leads back to this place.
static void test_a_search_without_a_match(void **state)
{
    static const enum ViewId views[] = {VIEW_MAIN, VIEW_ANNOTATE, VIEW_CALLERS,
                                        VIEW_OPCODES, VIEW_THREADS};
    (void)state;
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        struct Stage stage;
        const struct List *list = &stage.ui.lists[views[i]];
        open_whole(&stage, views[i]);
        long before = list->selected;
        for (char letter = 'a'; list->selected == before; letter++) {
            assert_true(letter <= 'z');
            if (letter > 'a')
                Stage_press(&stage, PRESS_ESCAPE); // closes the prompt
            Stage_press(&stage, '/');
            Stage_press(&stage, (uint8_t)letter);
        }
        Stage_press(&stage, '#');
        if (list->selected != before)
            fail_msg("%s: %ld, not %ld", VIEWS[views[i]]->name, list->selected,
                     before);
        Stage_release(&stage);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_every_view_from_every_view),
        cmocka_unit_test(test_a_question_that_comes_late),
        cmocka_unit_test(test_a_function_that_has_gone),
        cmocka_unit_test(test_no_function_at_all),
        cmocka_unit_test(test_before_the_first_snapshot),
        cmocka_unit_test(test_without_a_sampler),
        cmocka_unit_test(test_pausing_what_has_ended),
        cmocka_unit_test(test_clicks_among_threads),
        cmocka_unit_test(test_a_thread_and_a_baseline),
        cmocka_unit_test(test_a_tid_that_comes_again),
        cmocka_unit_test(test_every_key_that_is_offered),
        cmocka_unit_test(test_every_key_in_every_view),
        cmocka_unit_test(test_a_search_without_a_match),
    };
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
