// SPDX-License-Identifier: MIT
// tracer/preemption: what is told of a span from two readings, and of a thread
// that shares its CPU.
#define _GNU_SOURCE 1 // CPU affinity
#include "tracer/preemption.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/between.h"

#define MS 1000000
#define LIMIT_NS (60000 * (int64_t)MS)

// The clocks of everybody in this program, and what its thread has waited and
// was taken off its CPU: the kernel's, or those where time stands still.
static bool stands;

int clock_gettime(clockid_t id, struct timespec *now)
{
    if (!stands)
        return (int)syscall(SYS_clock_gettime, id, now);
    *now = (struct timespec){id == CLOCK_MONOTONIC ? 10000 : 1000, 0};
    return 0;
}

int getrusage(int who, struct rusage *usage)
{
    if (!stands)
        return (int)syscall(SYS_getrusage, who, usage);
    *usage = (struct rusage){.ru_nvcsw = 1000, .ru_nivcsw = 1000};
    return 0;
}

static int stand_still(void **state)
{
    (void)state;
    stands = true;
    return 0;
}

static int go_on(void **state)
{
    (void)state;
    stands = false;
    return 0;
}

static const struct ThreadTimes THEN = {100 * MS, 50 * MS, 0, 7, 3};

// So much later, of which the thread was off its CPU for `off`.
static struct ThreadTimes after(int64_t wall, int64_t off, int64_t waits,
                                int64_t taken)
{
    return (struct ThreadTimes){THEN.wall_ns + wall, THEN.cpu_ns + wall - off,
                                0, THEN.waits + waits, THEN.taken + taken};
}

static int64_t told(struct ThreadTimes now, int64_t span)
{
    return Preemption_between(&THEN, &now, span, PREEMPTION_BRIEF_NS);
}

static void test_the_cpu_was_another_ones(void **state)
{
    (void)state;
    assert_int_equal(told(after(5 * MS, 4 * MS, 0, 1), 5 * MS), 4 * MS);
    // It ran all the time.
    assert_int_equal(told(after(5 * MS, 0, 0, 0), 5 * MS), 0);
    // Never more than the span.
    assert_int_equal(told(after(6 * MS, 5 * MS, 0, 1), 3 * MS), 3 * MS);
}

static void test_who_waited_was_not_kept(void **state)
{
    (void)state;
    assert_int_equal(told(after(5 * MS, 4 * MS, 1, 0), 5 * MS), 0);
    assert_int_equal(told(after(5 * MS, 4 * MS, 1, 1), 5 * MS), 0);
    assert_int_equal(told(after(5 * MS, -4 * MS, 0, 1), 5 * MS), 0);
}

// By no switch of this machine's: its CPU was another machine's.
static void test_the_cpu_was_another_machines(void **state)
{
    struct ThreadTimes uncounted = THEN, now = after(5 * MS, 4 * MS, 0, 0);

    (void)state;
    assert_between(told(now, 5 * MS), 3990000, 4 * MS);
    assert_between(told(after(9 * MS, 4 * MS, 0, 0), 3 * MS), 3 * MS, 3 * MS);
    now.reading_ns = 2 * MS; // in asking
    assert_between(told(now, 3 * MS), 1900000, 2 * MS);
    // A little of everything, as interrupts take, was not in the one long span.
    assert_int_equal(told(after(1003 * MS, 5 * MS / 2, 0, 0), 3 * MS), 0);
    assert_int_equal(told(after(104 * MS / 10, 520000, 0, 0), 400000), 0);
    // Clocks drift apart, up to 5 in 10 000.
    assert_int_equal(told(after(1000 * MS, MS / 2, 0, 0), 1000 * MS), 0);
    assert_int_equal(told(after(5 * MS, -4 * MS, 0, 0), 5 * MS), 0);
    // Where nobody counts it may have slept.
    now = after(5 * MS, 4 * MS, 0, 0);
    uncounted.taken = now.taken = 0;
    assert_int_equal(
        Preemption_between(&uncounted, &now, 5 * MS, PREEMPTION_BRIEF_NS), 0);
}

// And who is kept off by those is not calm either.
static void test_stolen_time_ends_the_calm(void **state)
{
    struct Preemption preemption = {.calm = true, .spared = 5};
    struct ThreadTimes *then = &preemption.then;

    (void)state;
    Preemption_take(&preemption, 2 * MS);
    assert_false(Preemption_is_spared(&preemption, 9 * MS));
    then->wall_ns -= 15 * MS; // in which it ran for 8 ms
    then->cpu_ns -= 8 * MS;
    assert_between(Preemption_take(&preemption, 9 * MS), 6 * MS, 9 * MS);
    assert_false(preemption.calm);
}

// Up to 100 us each are lost in spans that nobody asks about.
static void test_what_was_lost_before(void **state)
{
    (void)state;
    // The one that there was may have been before the span.
    assert_int_equal(told(after(9 * MS, MS / 20, 0, 1), 5 * MS), 0);
    // Ten of eleven may.
    assert_int_equal(told(after(9 * MS, 3 * MS, 0, 11), 5 * MS), 2 * MS);
    // Not for longer than there was before.
    assert_int_equal(told(after(5 * MS + 1000, 3 * MS, 0, 11), 5 * MS),
                     3 * MS - 1000);
    assert_int_equal(told(after(5 * MS, 3 * MS, 0, 11), 5 * MS), 3 * MS);
    assert_int_equal(told(after(4 * MS, 3 * MS, 0, 11), 5 * MS), 3 * MS);
}

static void test_what_was_lost_in_asking(void **state)
{
    struct ThreadTimes now = after(9 * MS, 7 * MS, 0, 1);

    (void)state;
    now.reading_ns = 4 * MS;
    assert_int_equal(told(now, 5 * MS), 3 * MS);
    now.reading_ns = 7 * MS;
    assert_int_equal(told(now, 2 * MS), 0);
}

// --- For real ---

static atomic_bool spins;

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void *spin(void *unused)
{
    (void)unused;
    while (spins)
        ;
    return NULL;
}

// Another thread on the one CPU that the test keeps to meanwhile.
struct Rival {
    cpu_set_t before;
    pthread_t thread;
};

// Skips the test where it may not choose its CPU.
static void Rival_start(struct Rival *rival)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_getaffinity(0, sizeof rival->before, &rival->before) != 0 ||
        sched_setaffinity(0, sizeof one, &one) != 0)
        skip();
    spins = true;
    if (pthread_create(&rival->thread, NULL, spin, NULL) != 0) {
        sched_setaffinity(0, sizeof rival->before, &rival->before);
        fail_msg("no thread");
    }
}

static void Rival_stop(struct Rival *rival)
{
    spins = false;
    pthread_join(rival->thread, NULL);
    sched_setaffinity(0, sizeof rival->before, &rival->before);
}

// What is lost before the first question, or while one is asked, is in no span
// that is told about.
static void test_beside_another_on_the_same_cpu(void **state)
{
    struct Preemption preemption = {.known = false};
    int64_t begin = clock_ns(CLOCK_MONOTONIC), last = begin, kept = 0, off = 0;
    int64_t then = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    struct Rival rival;

    (void)state;
    Rival_start(&rival);
    while (last - begin < 200 * MS || // as a lane does
           (off < 400 * MS && last - begin < LIMIT_NS)) {
        int64_t now = clock_ns(CLOCK_MONOTONIC);
        int64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);

        if (now - last > PREEMPTION_BRIEF_NS) {
            off += preemption.known ? now - last - (cpu - then) : 0;
            kept += Preemption_take(&preemption, now - last);
            now = clock_ns(CLOCK_MONOTONIC);
            cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        }
        last = now;
        then = cpu;
    }
    Rival_stop(&rival);
    assert_true(off >= 400 * MS); // one time more or less is little of it
    assert_between(kept, off * 8 / 10, off + MS);
}

// A thread that waits once in a while, too, is seen to be kept from its CPU.
static void test_calm_ends_where_another_comes(void **state)
{
    const struct timespec nap = {0, 20000};
    struct Preemption preemption = {.calm = true};
    int64_t last = clock_ns(CLOCK_MONOTONIC);
    unsigned spans = 0;
    struct Rival rival;

    (void)state;
    Rival_start(&rival);
    while (preemption.calm && spans < 640) {
        int64_t now = clock_ns(CLOCK_MONOTONIC);

        if (now - last < MS)
            continue;
        spans++;
        if (preemption.spared % 8 == 5)
            nanosleep(&nap, NULL);
        if (!Preemption_is_spared(&preemption, MS))
            Preemption_take(&preemption, now - last);
        last = clock_ns(CLOCK_MONOTONIC);
    }
    Rival_stop(&rival);
    assert_between(spans, 1, 5 * 64); // a ms of its own each, at most
}

// Where nobody keeps it from its CPU two questions of sixty-four are asked.
static void test_calm_threads_are_spared(void **state)
{
    const struct timespec nap = {0, MS / 5}; // or as long as the machine likes
    struct Preemption preemption = {.known = false};
    int64_t begin = clock_ns(CLOCK_MONOTONIC);
    unsigned asked = 0, i;

    (void)state;
    for (i = 0; i < 5000 && !preemption.calm; i++) {
        assert_false(Preemption_is_spared(&preemption, MS));
        nanosleep(&nap, NULL); // by its own will
        Preemption_take(&preemption, 2 * MS);
    }
    // Not before a tenth of a second has shown it.
    assert_true(preemption.calm);
    assert_true(clock_ns(CLOCK_MONOTONIC) - begin >= 100 * MS);
    for (i = 0; i < 640; i++) {
        bool spared = Preemption_is_spared(&preemption, MS);

        asked += !spared;
        if (!spared)
            preemption.known = true;
        assert_int_equal(preemption.known, !spared);
    }
    assert_int_equal(asked, 20);
    // No longer: its CPU clock stands for a tenth of the time.
    preemption.wall_ns = 200 * MS;
    preemption.kept_ns = 20 * MS;
    Preemption_take(&preemption, 2 * MS);
    assert_false(preemption.calm);
    assert_false(Preemption_is_spared(&preemption, MS));
    assert_false(Preemption_is_spared(&preemption, MS));
}

// And the first span that another one had the CPU in is asked about, and told:
// not the sixty-fourth.
static void test_calm_ends_with_the_first_long_span(void **state)
{
    struct Preemption preemption = {.calm = true, .spared = 5};
    struct ThreadTimes *then = &preemption.then;

    (void)state;
    Preemption_take(&preemption, 2 * MS); // as long as usual
    assert_true(Preemption_is_spared(&preemption, 3 * MS));
    assert_true(Preemption_is_spared(&preemption, 4 * MS));
    assert_false(Preemption_is_spared(&preemption, 9 * MS));
    then->wall_ns -= 15 * MS; // in which it did not get the CPU for 7 ms
    then->cpu_ns -= 8 * MS;
    then->taken--;
    assert_between(Preemption_take(&preemption, 9 * MS), 6 * MS, 7 * MS);
    assert_false(preemption.calm);
    assert_true(preemption.usual_ns < 4 * MS);
    // No more than is unusual of it.
    then->wall_ns -= 15 * MS;
    then->taken--;
    Preemption_forget(&preemption);
    assert_between(Preemption_take(&preemption, 9 * MS), 5 * MS, 7 * MS);
    // Where it waited by its own will, who knows?
    then->wall_ns -= 15 * MS;
    then->taken--;
    then->waits--;
    Preemption_forget(&preemption);
    assert_int_equal(Preemption_take(&preemption, 9 * MS), 0);
    // And it has not become the usual thing by that.
    assert_true(preemption.usual_ns < 4 * MS);
    preemption.calm = true;
    assert_false(Preemption_is_spared(&preemption, 9 * MS));
}

// All is dark for a while, now and then, and short calls are timed between: a
// thread's usual spans are those.
static void test_what_is_dark_is_not_usual(void **state)
{
    struct Preemption preemption = {.calm = true, .spared = 5};
    struct ThreadTimes *then = &preemption.then;
    int64_t usual;

    (void)state;
    Preemption_take(&preemption, 2 * MS);
    usual = preemption.usual_ns;
    for (int i = 0; i < 3; i++) {
        then->wall_ns -= 900 * MS;
        then->cpu_ns -= 900 * MS;
        assert_false(Preemption_is_spared(&preemption, 900 * MS));
        Preemption_take(&preemption, 900 * MS);
        assert_between(preemption.usual_ns, MS, 2 * MS);
        assert_int_equal(preemption.usual_ns, usual); // nor is it less
    }
    preemption.calm = true;
    assert_false(Preemption_is_spared(&preemption, 9 * MS));
}

// A stretch in which a calm thread lost a little now and then, and an honest
// long span at its end.
static void test_what_a_stretch_lost_is_not_one_spans(void **state)
{
    struct Preemption preemption = {.calm = true, .spared = 5};
    struct ThreadTimes *then = &preemption.then;

    (void)state;
    Preemption_take(&preemption, 5 * MS);
    then->wall_ns -= 400 * MS; // of which 12 were lost, at three times
    then->cpu_ns -= 388 * MS;
    then->taken -= 3;
    Preemption_forget(&preemption);
    assert_int_equal(Preemption_take(&preemption, 50 * MS), 0);
    // And at one time.
    preemption.usual_ns = MS;
    then->wall_ns -= 400 * MS;
    then->cpu_ns -= 388 * MS;
    then->taken--;
    Preemption_forget(&preemption);
    assert_between(Preemption_take(&preemption, 50 * MS), 0, 3 * MS);
}

// What a hypervisor took is: of the stretch before, interrupts' part is taken
// off once.
static void test_stolen_after_a_stretch(void **state)
{
    struct Preemption preemption = {.calm = true, .spared = 5};
    struct ThreadTimes *then = &preemption.then;

    (void)state;
    Preemption_take(&preemption, 5 * MS);
    preemption.usual_ns = MS;
    then->wall_ns -= 400 * MS; // of which 30 were stolen
    then->cpu_ns -= 370 * MS;
    Preemption_forget(&preemption);
    assert_between(Preemption_take(&preemption, 50 * MS), 18 * MS, 20 * MS);
}

// What is usual follows the program.
static void test_what_is_usual(void **state)
{
    struct Preemption preemption = {.calm = true, .spared = 5};
    int i;

    (void)state;
    Preemption_take(&preemption, 15 * MS);
    assert_int_equal(preemption.usual_ns, 10 * MS); // at most
    for (i = 0; i < 40; i++)
        Preemption_take(&preemption, MS);
    assert_between(preemption.usual_ns, MS, MS * 3 / 2);
}

// Its counter ran on, CLOCK_MONOTONIC did not.
static void test_the_machine_was_suspended(void **state)
{
    const int64_t night = 8 * 3600 * 1000 * (int64_t)MS;
    struct Preemption preemption = {.calm = true, .spared = 5};

    (void)state;
    assert_int_equal(Preemption_take(&preemption, 2 * MS), 0);
    assert_true(Preemption_is_spared(&preemption, MS));
    assert_false(Preemption_is_spared(&preemption, night));
    assert_between(Preemption_take(&preemption, night), night - 1000 * MS,
                   night);
    assert_int_equal(Preemption_take(&preemption, 2 * MS), 0);
}

// Where nothing could ever be answered, nothing is asked for long.
static void test_switches_that_tell_nothing(void **state)
{
    struct Preemption preemption = {.known = true};
    int i;

    (void)state;
    for (i = 0; i < 200 && !preemption.calm; i++) {
        preemption.then.wall_ns = clock_ns(CLOCK_MONOTONIC) - 5 * MS;
        preemption.then.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        preemption.then.waits = preemption.then.taken = INT32_MAX;
        Preemption_take(&preemption, 2 * MS);
    }
    assert_true(preemption.calm);
}

static void test_who_sleeps_is_not_kept(void **state)
{
    const struct timespec nap = {0, 2 * MS};
    struct Preemption preemption = {.known = false};
    int i;

    (void)state;
    for (i = 0; i < 10; i++) {
        nanosleep(&nap, NULL);
        assert_int_equal(Preemption_take(&preemption, 2 * MS), 0);
    }
    Preemption_forget(&preemption);
    assert_int_equal(Preemption_take(&preemption, 2 * MS), 0);
}

#define STILL(test) cmocka_unit_test_setup_teardown(test, stand_still, go_on)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_cpu_was_another_ones),
        cmocka_unit_test(test_who_waited_was_not_kept),
        cmocka_unit_test(test_the_cpu_was_another_machines),
        cmocka_unit_test(test_what_was_lost_before),
        cmocka_unit_test(test_what_was_lost_in_asking),
        cmocka_unit_test(test_beside_another_on_the_same_cpu),
        cmocka_unit_test(test_who_sleeps_is_not_kept),
        cmocka_unit_test(test_calm_ends_where_another_comes),
        cmocka_unit_test(test_calm_threads_are_spared),
        STILL(test_calm_ends_with_the_first_long_span),
        STILL(test_what_is_dark_is_not_usual),
        STILL(test_stolen_time_ends_the_calm),
        STILL(test_what_a_stretch_lost_is_not_one_spans),
        STILL(test_stolen_after_a_stretch),
        STILL(test_what_is_usual),
        STILL(test_the_machine_was_suspended),
        cmocka_unit_test(test_switches_that_tell_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
