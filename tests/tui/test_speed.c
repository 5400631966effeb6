// SPDX-License-Identifier: MIT
// Measures the CPU time of a key and of a snapshot in every view, with 10 000
// functions and 50 threads. It is compared with the time for decoding the same
// snapshot at the same time, which is linear and which every viewer needs. Work
// that is quadratic in the number of functions, or that is done for each
// function at each key, takes many times as long. (`make bench ARGS=--viewer`
// measures milliseconds on a terminal.)
#include "tests/sanitizers.h"
#include "tests/tui/stage.h"
#include "tui/app/frame.h"
#include "tui/app/keyboard.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

// Sanitizers slow down some code more than other code, so with them the test
// runs only briefly and has no limits.
#if UNDER_ASAN || UNDER_TSAN
#define JUDGED 0
#define FUNCTIONS 500u
#define TRIES 1
#else
#define JUDGED 1
#define FUNCTIONS 10000u
#define TRIES 9
#endif
#define THREADS 50u
#define CALLERS 3u

// Limits in units of one decoded snapshot. Decoding took 4 ms on the machine of
// these figures, and a key may take 16 ms. There, moving took 0.1, sorting all
// rows 0.9, and a new snapshot 0.9.
#define MOVE_MOST 0.4
#define KEY_MOST 2.5
#define SNAPSHOT_MOST 2.5

static struct Bytes frame; // an encoded snapshot

static double cpu_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// Makes a snapshot in which every function has CALLERS callers and there are
// THREADS threads.
static struct Snapshot *make(void)
{
    struct Snapshot *snapshot =
        Sample_new((struct SampleWish){.extra = FUNCTIONS - 12});
    struct Function *functions = (void *)(uintptr_t)snapshot->functions;
    struct Thread *threads =
        Snapshot_alloc(snapshot, THREADS * sizeof *threads);
    assert_int_equal(snapshot->function_count, FUNCTIONS);
    assert_non_null(threads);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        struct Caller *callers =
            Snapshot_alloc(snapshot, CALLERS * sizeof *callers);
        assert_non_null(callers);
        for (unsigned k = 0; k < CALLERS; k++)
            callers[k] = (struct Caller){(i * 7 + k * 31) % FUNCTIONS + 1,
                                         .01 / (1 + i)};
        functions[i].callers = callers;
        functions[i].caller_count = CALLERS;
    }
    for (unsigned i = 0; i < THREADS; i++) {
        threads[i] = snapshot->threads[i % 4];
        threads[i].tid = 100 + i;
    }
    snapshot->threads = threads;
    snapshot->thread_count = THREADS;
    return snapshot;
}

static struct Snapshot *decode(void)
{
    struct Message message;
    assert_true(
        Message_decode(&message, frame.data, frame.size, WIRE_MAX_FRAME) > 0);
    struct Snapshot *snapshot = message.snapshot;
    message.snapshot = NULL;
    Message_release(&message);
    return snapshot;
}

// Returns the CPU time for decoding: the minimum of several runs, because other
// load on the machine must not count.
static double yardstick(void)
{
    double least = 1e9;
    for (int i = 0; i < TRIES; i++) {
        double began = cpu_now();
        struct Snapshot *snapshot = decode();
        least = fmin(least, cpu_now() - began);
        Snapshot_free(snapshot);
    }
    return least;
}

static void set_up(struct Stage *stage)
{
    Stage_init(stage, 150, 40);
    for (int i = 0; i < 3; i++)
        assert_int_equal(Model_push(&stage->ui.model, decode()), 0);
    Frame_draw(&stage->ui);
}

static void press(struct Stage *stage, uint32_t key)
{
    Keyboard_press(&stage->ui, key);
    Stage_deliver(stage, (struct SampleWish){0}, "<string>");
    Frame_draw(&stage->ui);
}

static double cost_of_key(struct Stage *stage, uint32_t key)
{
    double least = 1e9;
    for (int i = 0; i < TRIES; i++) {
        double began = cpu_now();
        press(stage, key);
        least = fmin(least, cpu_now() - began);
    }
    return least;
}

static double cost_of_snapshot(struct Stage *stage)
{
    double least = 1e9;
    for (int i = 0; i < TRIES; i++) {
        struct Snapshot *snapshot = decode();
        double began = cpu_now();
        assert_int_equal(Model_push(&stage->ui.model, snapshot), 0);
        Frame_draw(&stage->ui);
        least = fmin(least, cpu_now() - began);
    }
    return least;
}

static const struct {
    const char *name;
    const char *way; // keys that open the view from the main screen
} views[] = {
    {"main", ""},
    {"main, filtered", "\\module<Enter>"},
    {"main, one thread", "tj<Enter>"},
    {"annotate", "<Enter>"},
    {"callers", "c"},
    {"callers, unfolded",
     "c<Right>j<Right>j<Right>j<Right><End><Right>j<Right>j<Right>"},
    {"opcodes", "o"},
    {"threads", "t"},
    {"flame", "f"},
    {"help", "?"},
};

static void judge(const char *view, const char *what, double cost, double most)
{
    if (JUDGED && cost > most)
        fail_msg(
            "%s, %s: %.2f times what decoding a snapshot takes, and %.2f "
            "are allowed",
            view, what, cost, most);
}

static void test_every_view(void **state)
{
    static const char moves[] = "jGkg", others[] = "I>ub/x";
    double unit = yardstick();
    (void)state;
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        struct Stage stage;
        const char *keys = views[i].way;
        uint32_t key;
        set_up(&stage);
        while ((key = Key_parse(&keys)) != 0)
            press(&stage, key);
        for (const char *at = moves; *at; at++)
            judge(views[i].name, (char[]){*at, 0},
                  cost_of_key(&stage, (uint32_t)*at) / unit, MOVE_MOST);
        for (const char *at = others; *at; at++)
            judge(views[i].name, (char[]){*at, 0},
                  cost_of_key(&stage, (uint32_t)*at) / unit, KEY_MOST);
        press(&stage, PRESS_ESCAPE); // closes the prompt of /
        judge(views[i].name, "a snapshot", cost_of_snapshot(&stage) / unit,
              SNAPSHOT_MOST);
        Stage_release(&stage);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_view),
    };
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return 77;
    Bytes_init(&frame);
    struct Message message = {.type = MESSAGE_SNAPSHOT, .snapshot = make()};
    if (Message_encode(&frame, &message))
        return 1;
    Message_release(&message);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    Bytes_release(&frame);
    return failed;
}
