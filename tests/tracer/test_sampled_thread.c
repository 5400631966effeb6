// SPDX-License-Identifier: MIT
// Tests tracer/sample/sampled_thread. The tests check the times for which a
// thread has run and waited by its clocks, in virtual time.
#define _GNU_SOURCE 1 // for gettid().
#include "tracer/sample/sampled_thread.h"

#include <math.h>
#include <unistd.h>

#include "tests/unit.h"

#define MS 1000000u
#define STATE 1
#define TID 0x7ffffff0

static struct SampledThread thread;
static uint64_t wall_ns, cpu_ns;
static struct Clock counter;
static struct ShareTime now;

static uint64_t read_ns(void *context, clockid_t id)
{
    (void)context;
    return id == CLOCK_MONOTONIC ? wall_ns : cpu_ns;
}

static const struct SampleClock CLOCK = {.read_ns = read_ns};

// ns that count for the first observation of a thread
#define FIRST_NS (20.0 * MS)

// Observes the thread after `wall` ns, in which the thread has run for `cpu`
// ns.
static enum Observation observe(uint64_t wall, uint64_t cpu)
{
    wall_ns += wall;
    cpu_ns += cpu;
    now.ns += (double)wall;
    now.full_ns += (double)wall;
    return SampledThread_observe(&thread, &CLOCK, &now, FIRST_NS);
}

static void set_up(void)
{
    wall_ns = 5000 * MS;
    cpu_ns = 700 * MS;
    now = (struct ShareTime){0};
    SampledThread_init(&thread, STATE, TID);
    thread.listed = true;
    assert_int_equal(observe(0, 0), OBSERVED_NEW);
    assert_true(thread.wait_ns == FIRST_NS);
    SampledThread_forget_waits(&thread);
}

// A thread that has not run for ten seconds is idle, except the main thread.
TEST_WITH(test_idle, set_up, NULL)
{
    observe(250 * MS, 100 * MS);
    for (int i = 0; i < 40; i++)
        observe(250 * MS, 0);
    assert_false(SampledThread_is_idle(&thread));
    observe(250 * MS, 0);
    assert_true(SampledThread_is_idle(&thread));
    thread.tid = getpid();
    assert_false(SampledThread_is_idle(&thread));
    thread.tid = TID;
    observe(250 * MS, MS);
    assert_false(SampledThread_is_idle(&thread));
}

TEST_WITH(test_what_it_has_run_and_waited, set_up, NULL)
{
    assert_true(Counter_get(&thread.cpu.total_ns) == 0);
    assert_int_equal(observe(250 * MS, 100 * MS), OBSERVED_RAN);
    assert_true(thread.ran);
    assert_true(thread.wait_ns == 150.0 * MS);
    assert_true(ShareValue_window(&thread.cpu, &now) == 0.4);
    assert_true(ShareValue_window(&thread.wait, &now) == 0.6);
    // The two clocks are read one after the other, so the difference could be
    // negative.
    observe(250 * MS, 251 * MS);
    assert_true(thread.wait_ns == 150.0 * MS);
    assert_int_equal(Counter_get(&thread.cpu.total_ns), 351 * MS);
    assert_int_equal(Counter_get(&thread.wait.total_ns), 150 * MS);
    assert_int_equal(Counter_get(&thread.samples), 3);
}

// Each observation finds the thread running, so the thread's waits belong to no
// function.
TEST_WITH(test_waits_that_nobody_gets_fade, set_up, NULL)
{
    struct ShareClock clock = {0};

    for (int i = 0; i < 400; i++) {
        ShareClock_advance(&clock, 250e6, 100);
        wall_ns += 250 * MS;
        cpu_ns += 100 * MS;
        now = ShareClock_now(&clock);
        SampledThread_observe(&thread, &CLOCK, &now, FIRST_NS);
    }
    assert_true(fabs(thread.wait_ns / now.full_ns - 0.6) < 1e-9);
    assert_int_equal(Counter_get(&thread.wait.total_ns), 60000ull * MS);
}

// Samples of a new thread also count for two other new threads.
TEST_WITH(test_a_thread_that_is_not_listed, set_up, NULL)
{
    struct CpuTimer timer = {.represents = 3};

    SampledThread_init(&thread, STATE, TID);
    thread.timer = &timer;
    assert_int_equal(observe(250 * MS, 0), OBSERVED_NEW);
    assert_true(thread.wait_ns == 3 * FIRST_NS);
    observe(250 * MS, 50 * MS);
    assert_true(thread.wait_ns == 3 * FIRST_NS + 600.0 * MS);
    thread.listed = true;
    observe(250 * MS, 50 * MS);
    assert_true(thread.wait_ns == 3 * FIRST_NS + 800.0 * MS);
}

// A new thread has the id of an ended thread, and at first that thread's timer.
TEST_WITH(test_another_thread_with_its_number, set_up, NULL)
{
    static const struct FrameLayout layout = {.thread_chunk = 16};
    struct CpuTimers timers = {.layout = &layout, .clock = &counter};

    Clock_start(&counter);
    CpuTimers_open(&timers, 0);
    assert_int_equal(timers.error, 0);
    thread.timer = CpuTimer_new(&timers, STATE, gettid());
    assert_non_null(thread.timer);
    observe(250 * MS, 100 * MS);
    thread.walked = true;
    cpu_ns = 0;
    assert_int_equal(observe(250 * MS, 30 * MS), OBSERVED_NEW);
    assert_null(thread.timer);
    assert_false(thread.walked);
    assert_int_equal(SampledThread_overdue_ns(&thread, true), 0);
    observe(250 * MS, 20 * MS);
    assert_int_equal(SampledThread_overdue_ns(&thread, true), 20 * MS);
    CpuTimers_close(&timers);
}
