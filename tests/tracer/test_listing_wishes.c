// SPDX-License-Identifier: MIT
// Requests for listings: one at a time for a viewer, one listing of a function
// for all viewers that show it, a few a second at most, with operand text from
// the governor or without it. In virtual time.
#include "tests/tracer/make_engine.h"
#include "tracer/session/costs.h"
#include "tracer/session/listings.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/between.h"

// A session without threads and without a server: a request that nobody waits
// for any more has been served.
struct Fixture {
    struct Engine engine;
    struct Session session;
    struct Code *one, *two;
    unsigned woken;
};

// The clocks of this whole program. Both stand still, but each reading of the
// thread clock advances it by 10 us, as a listing does. 0: the kernel's clocks.
static int64_t wall_ns, thread_ns;

int clock_gettime(clockid_t id, struct timespec *now)
{
    int64_t ns = id == CLOCK_MONOTONIC ? wall_ns : 0;

    if (wall_ns && id == CLOCK_THREAD_CPUTIME_ID)
        ns = thread_ns += 10000;
    if (!ns)
        return (int)syscall(SYS_clock_gettime, id, now);
    *now = (struct timespec){ns / 1000000000, ns % 1000000000};
    return 0;
}

static void note_wake(void *context)
{
    ((struct Fixture *)context)->woken++;
}

static int set_up(void **state)
{
    struct Fixture *f = calloc(1, sizeof *f);

    make_engine(&f->engine);
    f->session.engine = &f->engine;
    f->session.config.budget = NAN;
    f->session.budget = NAN;
    Costs_init(&f->session);
    Transitions_init(&f->session.transitions, &f->engine.opcodes,
                     &f->engine.clock, 0);
    Waker_init(&f->session.governor_waker);
    Listings_init(&f->session);
    f->one = add_code(&f->engine, "one", 500);
    f->two = add_code(&f->engine, "two", 500);
    *state = f;
    wall_ns = 1000000000000;
    return 0;
}

static int tear_down(void **state)
{
    struct Fixture *f = *state;

    wall_ns = 0;
    ListingWishes_release(&f->session.wishes);
    Transitions_release(&f->session.transitions);
    Engine_release(&f->engine);
    free(f);
    return 0;
}

static void sleep_ms(unsigned ms)
{
    wall_ns += ms * 1000000L;
}

// Of the collector, since this was asked last.
static int wake_ups(struct Fixture *f)
{
    int count = 0;

    while (sem_trywait(&f->engine.due) == 0)
        count++;
    return count;
}

static void test_one_wish_a_viewer(void **state)
{
    struct Fixture *f = *state;
    struct ListingWishes *wishes = &f->session.wishes;

    assert_int_equal(ListingWishes_ask(wishes, 1, 10, f->one->hot.id), 0);
    assert_int_equal(wake_ups(f), 1);
    assert_int_equal(wishes->wish_count, 1);
    assert_int_equal(ListingWishes_ask(wishes, 1, 11, f->one->hot.id), 0);
    assert_int_equal(wake_ups(f), 0);
    assert_int_equal(wishes->wish_count, 1); // the newer request counts
    assert_int_equal(wishes->queue[0].request, 11);
    ListingWishes_ask(wishes, 1, 12, f->two->hot.id);
    assert_int_equal(wishes->wish_count, 1); // another function
    assert_int_equal(wishes->queue[0].id, f->two->hot.id);
    ListingWishes_ask(wishes, 2, 1, f->two->hot.id);
    assert_int_equal(wishes->wish_count, 2);
}

static void test_the_collector_is_not_woken_too_often(void **state)
{
    struct Fixture *f = *state;
    struct ListingWishes *wishes = &f->session.wishes;
    for (uint32_t i = 0; i < 99999; i++) { // one function, then another
        ListingWishes_ask(wishes, 1, i,
                          i % 2 ? f->one->hot.id : f->two->hot.id);
        wall_ns += 1000;
    }
    assert_int_equal(wake_ups(f), 5); // in 100 ms
    // What it was not woken for it finds by itself.
    assert_true(ListingWishes_pause_ms(wishes, 1000) <= 21);
}

static void test_no_more_than_there_is_room_for(void **state)
{
    struct Fixture *f = *state;
    struct ListingWishes *wishes = &f->session.wishes;

    for (unsigned i = 0; i < LISTING_WISHES; i++)
        assert_true(ListingWishes_ask(wishes, i, 1, f->one->hot.id) == 0);
    assert_int_equal(ListingWishes_ask(wishes, 999, 1, f->one->hot.id), -EBUSY);
    assert_true(ListingWishes_ask(wishes, 3, 2, f->two->hot.id) == 0);
    for (int i = 0; i < 5000 && wishes->wish_count; i++) {
        ListingWishes_serve(&f->session.wishes);
        sleep_ms(1);
    }
    assert_int_equal(wishes->wish_count, 0);
}

static void test_a_function_is_listed_five_times_a_second(void **state)
{
    struct Fixture *f = *state;
    struct ListingWishes *wishes = &f->session.wishes;

    ListingWishes_ask(wishes, 1, 1, f->one->hot.id);
    assert_int_equal(ListingWishes_pause_ms(wishes, 1000), 0);
    ListingWishes_serve(&f->session.wishes);
    assert_int_equal(wishes->wish_count, 0);
    ListingWishes_ask(wishes, 1, 2, f->one->hot.id);
    ListingWishes_serve(&f->session.wishes);
    assert_int_equal(wishes->wish_count, 1); // not yet
    assert_between(ListingWishes_pause_ms(wishes, 1000), 1, 201);
    ListingWishes_ask(wishes, 2, 1,
                      f->two->hot.id); // another one need not wait so long
    sleep_ms(150);
    ListingWishes_serve(&f->session.wishes);
    assert_int_equal(wishes->wish_count, 1);
    assert_int_equal(wishes->queue[0].id, f->one->hot.id);
    sleep_ms(49);
    ListingWishes_serve(&f->session.wishes);
    assert_int_equal(wishes->wish_count, 1);
    sleep_ms(1);
    ListingWishes_serve(&f->session.wishes);
    assert_int_equal(wishes->wish_count, 0);
    assert_true(ListingWishes_pause_ms(wishes, 1000) > 900);
}

static void test_words_are_waited_for_but_not_for_ever(void **state)
{
    struct Fixture *f = *state;
    struct ListingWishes *wishes = &f->session.wishes;
    struct OperandText *words;

    Waker_set(&f->session.governor_waker, note_wake, f);
    assert_int_equal(ListingWishes_next_text(wishes), 0);
    ListingWishes_ask(wishes, 1, 1, f->one->hot.id);
    ListingWishes_ask(wishes, 2, 1, f->two->hot.id);
    ListingWishes_serve(&f->session.wishes);
    assert_int_equal(wishes->wish_count, 2);
    assert_int_equal(f->woken, 2);
    words = OperandText_new(f->one->hot.id);
    OperandText_add(words, TEXT_LOCALS, "n");
    while (ListingWishes_next_text(wishes))
        ;
    assert_int_equal(ListingWishes_bytes(wishes), 0);
    ListingWishes_deliver(&f->session.wishes, words);
    ListingWishes_deliver(&f->session.wishes,
                          OperandText_new(4711)); // nobody's
    ListingWishes_serve(&f->session.wishes);
    assert_int_equal(wishes->wish_count, 1); // the other one waits on
    assert_true(ListingWishes_bytes(wishes) > 0);
    for (int i = 0; i < 150 && wishes->wish_count; i++) {
        ListingWishes_serve(&f->session.wishes);
        sleep_ms(20);
    }
    assert_int_equal(wishes->wish_count, 0); // without its words
    assert_int_equal(f->woken, 2);           // which were asked for once
    // If the governor ends nobody is asked any more.
    Waker_set(&f->session.governor_waker, NULL, NULL);
    ListingWishes_ask(wishes, 1, 1, add_code(&f->engine, "three", 0)->hot.id);
    for (int i = 0; i < 150 && wishes->wish_count; i++) {
        ListingWishes_serve(&f->session.wishes);
        sleep_ms(20);
    }
    assert_int_equal(wishes->wish_count, 0);
}

static void test_a_function_that_is_gone_is_answered(void **state)
{
    struct Fixture *f = *state;
    struct ListingWishes *wishes = &f->session.wishes;

    ListingWishes_ask(wishes, 1, 1, 4711);
    ListingWishes_serve(&f->session.wishes);
    assert_int_equal(wishes->wish_count, 0);
}

static void test_the_end(void **state)
{
    struct Fixture *f = *state;
    struct ListingWishes *wishes = &f->session.wishes;

    ListingWishes_ask(wishes, 1, 1, f->one->hot.id);
    ListingWishes_close(&f->session.wishes);
    assert_int_equal(wishes->wish_count, 0);
    assert_int_equal(ListingWishes_ask(wishes, 1, 2, f->one->hot.id),
                     -ESHUTDOWN);
    assert_between(ListingWishes_pause_ms(wishes, 77), 1,
                   21); // looks once more
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(test_one_wish_a_viewer),
        SCENE(test_the_collector_is_not_woken_too_often),
        SCENE(test_no_more_than_there_is_room_for),
        SCENE(test_a_function_is_listed_five_times_a_second),
        SCENE(test_words_are_waited_for_but_not_for_ever),
        SCENE(test_a_function_that_is_gone_is_answered),
        SCENE(test_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
