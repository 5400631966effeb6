// SPDX-License-Identifier: MIT
// Tests tracer/hook/preemption. The tests check a thread that shares its CPU
// with another thread, and a suspended machine.
#define _GNU_SOURCE 1 // For CPU affinity.
#include "tracer/hook/preemption.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit.h"

#include "tests/between.h"
#include "tests/sanitizers.h"

#define MS 1000000
#define LIMIT_NS (60000 * (int64_t)MS)

// If `stands` is true, the clocks stand still, and this file provides them and
// the scheduler's numbers. If it is false, the kernel does.
static bool stands;
static time_t asleep_s; // Seconds for which the machine was suspended.

int clock_gettime(clockid_t id, struct timespec *now)
{
    if (!stands)
        return (int)syscall(SYS_clock_gettime, id, now);
    now->tv_nsec = 0;
    now->tv_sec = id == CLOCK_MONOTONIC  ? 10000
                  : id == CLOCK_BOOTTIME ? 10000 + asleep_s
                                         : 1000;
    return 0;
}

int getrusage(__rusage_who_t who, struct rusage *usage)
{
    if (!stands)
        return (int)syscall(SYS_getrusage, who, usage);
    *usage = (struct rusage){.ru_nvcsw = 1000, .ru_nivcsw = 1000};
    return 0;
}

static void stand_still(void)
{
    stands = true;
}

static void go_on(void)
{
    stands = false;
}

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

// Another thread that runs on the same CPU as the test.
struct Rival {
    cpu_set_t before;
    pthread_t thread;
};

// Skips the test if this process may not choose its CPU.
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

// No measured span contains the time that was lost before the first check or
// during a check.
TEST(test_beside_another_on_the_same_cpu)
{
    struct Preemption preemption = {.known = false};
    int64_t begin = clock_ns(CLOCK_MONOTONIC), last = begin, kept = 0, off = 0;
    int64_t then = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    struct Rival rival;

    // Valgrind's threads wait for each other, unknown to the kernel.
    if (UNDER_VALGRIND)
        skip();
    Rival_start(&rival);
    while (last - begin < 200 * MS || // As a hook does.
           (off < 400 * MS && last - begin < LIMIT_NS)) {
        int64_t now = clock_ns(CLOCK_MONOTONIC);
        int64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);

        if (now - last > PREEMPTION_BRIEF_NS) {
            off += preemption.known ? now - last - (cpu - then) : 0;
            kept += Preemption_measure(&preemption, now - last, 0);
            now = clock_ns(CLOCK_MONOTONIC);
            cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        }
        last = now;
        then = cpu;
    }
    Rival_stop(&rival);
    // The total is large, so one lost time slice more or less hardly matters.
    assert_true(off >= 400 * MS);
    assert_between(kept, off * 8 / 10, off + MS);
}

// CLOCK_BOOTTIME shows the suspension, even if the thread's last check was long
// ago or never.
TEST_WITH(test_the_machine_was_suspended, stand_still, go_on)
{
    const int64_t night = 8 * 3600 * 1000 * (int64_t)MS;
    struct Preemption preemption;

    asleep_s = 100; // The machine was suspended before the thread began.
    Preemption_init(&preemption);
    assert_int_equal(Preemption_measure(&preemption, night, 0), 0);
    asleep_s += 8 * 3600;
    // This span is too short to be checked.
    assert_int_equal(Preemption_measure(&preemption, 2 * MS, 0), 0);
    assert_int_equal(Preemption_measure(&preemption, night + 5 * MS, 0), night);
    assert_int_equal(Preemption_measure(&preemption, night, 0),
                     0); // The suspension is reported only once.
    asleep_s += 8 * 3600;
    assert_int_equal(Preemption_measure(&preemption, 2000 * MS, 0), 2000 * MS);
    Preemption_init(&preemption);
    asleep_s += 8 * 3600;
    assert_int_equal(Preemption_measure(&preemption, night, 0), night);
}

TEST(test_who_sleeps_is_not_kept)
{
    const struct timespec nap = {0, 2 * MS};
    struct Preemption preemption = {.known = false};
    int i;

    for (i = 0; i < 10; i++) {
        nanosleep(&nap, NULL);
        assert_int_equal(Preemption_measure(&preemption, 2 * MS, 0), 0);
    }
    preemption.known = false;
    assert_int_equal(Preemption_measure(&preemption, 2 * MS, 0), 0);
}

// Returns for how many long spans the kernel is not asked, after a span in
// which the thread has waited.
static int skipped_after_a_wait(struct Preemption *preemption)
{
    int count = 0;

    // From here on all spans are checked.
    Preemption_measure(preemption, 2 * MS, 0);
    preemption->then.waits--;
    assert_int_equal(Preemption_measure(preemption, 2 * MS, 0), 0);
    while (Preemption_skip(preemption, 0))
        count++;
    preemption->known = false;
    return count;
}

// The thread has waited for the governor while its code had no hooks for a
// second.
TEST_WITH(test_who_waited_while_code_was_dark_is_asked, stand_still, go_on)
{
    struct Preemption preemption = {.known = false};

    for (int i = 0; i < 6; i++)
        skipped_after_a_wait(&preemption);
    preemption.places[0].skips = PREEMPTION_SKIPS;
    // No hooks were installed since the last span.
    Preemption_note_armed(&preemption, 0);
    assert_int_equal(preemption.places[0].skips, PREEMPTION_SKIPS);
    Preemption_note_armed(&preemption, 1);
    assert_int_equal(preemption.places[0].skips, 0);
    Preemption_measure(&preemption, 1000 * MS, 0);
    preemption.then.wall_ns -= 9 * MS;
    preemption.then.cpu_ns -= 2 * MS;
    preemption.then.taken--;
    assert_int_equal(Preemption_measure(&preemption, 9 * MS, 0), 7 * MS);
    Preemption_note_armed(&preemption, 1);
    assert_true(preemption.known);
    // The thread waited in a span that was not checked, and then lost the CPU.
    Preemption_expect_wait(&preemption, 50 * MS);
    preemption.then.wall_ns -= 59 * MS;
    preemption.then.cpu_ns -= 2 * MS;
    preemption.then.waits--;
    preemption.then.taken--;
    assert_int_equal(Preemption_measure(&preemption, 9 * MS, 0), 7 * MS);
    assert_int_equal(preemption.ran_ns, 2 * MS);
    assert_false(preemption.unsure);
    // Half of the time before the span may have been a wait.
    preemption.then.wall_ns -= 29 * MS;
    preemption.then.cpu_ns -= 22 * MS;
    preemption.then.waits--;
    assert_int_equal(Preemption_measure(&preemption, 9 * MS, 0), 0);
    assert_int_equal(preemption.ran_ns, 2 * MS);
    assert_true(preemption.unsure);
    // The thread did not wait in a span in which a wait was expected, so the
    // numbers of switches do not show that it ran in the next span.
    Preemption_expect_wait(&preemption, MS);
    preemption.then.waits--;
    assert_int_equal(Preemption_measure(&preemption, MS, 0), 0);
    assert_int_equal(preemption.ran_ns, 0);
    assert_int_equal(Preemption_measure(&preemption, MS, 0), 0);
    assert_int_equal(preemption.ran_ns, MS);
    // Another site has the place of the first one.
    preemption.places[0].skips = 3;
    assert_false(Preemption_skip(&preemption, PREEMPTION_PLACES));
    assert_false(Preemption_skip(&preemption, 0));
    // If hooks were installed during a span, the waits in this span do not
    // cause later spans to be skipped.
    preemption.then.waits--;
    Preemption_note_armed(&preemption, 2);
    Preemption_measure(&preemption, 2 * MS, 0);
    assert_int_equal(skipped_after_a_wait(&preemption), 0);
}
