// SPDX-License-Identifier: MIT
// tracer/interruption: which wake-ups count, and that one costs something.
#define _GNU_SOURCE 1 // CPU affinity
#include "tracer/interruption.h"

#include "tests/cage.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/between.h"

// Between two wake-ups: what is charged with the spinning in it is at least
// this.
#define PAUSE_S 1e-4

static struct Interruptions all;
static struct InterruptionCounts counts;

#define EACH_S 0.25 // what one costs, but where another price is named

// What it has cost, in units of EACH_S.
static double pass(uint64_t switches, uint64_t wakeups, uint64_t forced,
                   double each_s)
{
    double before = all.cost_s;

    counts.switches += switches;
    counts.wakeups += wakeups;
    counts.forced += forced;
    Interruptions_read(&all, &counts, each_s);
    return (all.cost_s - before) / EACH_S;
}

static void test_what_counts(void **state)
{
    (void)state;
    counts = (struct InterruptionCounts){1000, 0, 0};
    Interruptions_init(&all, &counts);
    assert_true(pass(0, 0, 0, EACH_S) == 0);
    assert_true(pass(100, 100, 0, EACH_S) == 100); // one CPU
    assert_true(pass(0, 100, 0, EACH_S) == 0);  // our threads have another one
    assert_true(pass(1000, 3, 0, EACH_S) == 3); // others interrupt, too
    assert_true(pass(0, 5, 5, EACH_S) == 5);    // the interpreter was wanted
    // What came too much in one reading is not made up for in the next.
    assert_true(pass(50, 0, 0, EACH_S) == 0);
    assert_true(pass(0, 50, 0, EACH_S) == 0);
}

static void test_each_at_the_price_of_its_time(void **state)
{
    (void)state;
    counts = (struct InterruptionCounts){0, 0, 0};
    Interruptions_init(&all, &counts);
    assert_true(pass(10, 10, 0, 0) == 0); // not known yet
    assert_true(pass(20, 20, 0, 0) == 0);
    assert_true(pass(1, 1, 0, EACH_S) == 31);    // and for those before
    assert_true(pass(0, 0, 0, 4 * EACH_S) == 0); // they are paid for
    assert_true(pass(2, 2, 1, 4 * EACH_S) == 12);
    assert_true(pass(2, 2, 0, 0) == 0);
    assert_true(pass(0, 0, 0, EACH_S) == 2);
}

// After an hour in which it could not be measured: not all of it at once.
static void test_a_late_price_is_for_the_first_seconds(void **state)
{
    (void)state;
    counts = (struct InterruptionCounts){0, 0, 0};
    Interruptions_init(&all, &counts);
    for (int i = 0; i < 3600; i++)
        assert_true(pass(100, 100, 1, 0) == 0);
    assert_true(pass(100, 100, 0, EACH_S) == 1600);
    assert_true(pass(5000, 5000, 0, EACH_S) == 5000); // a price was known
}

static void test_when_it_is_measured(void **state)
{
    struct InterruptionPlan plan = {0};

    (void)state;
    assert_false(InterruptionPlan_is_due(&plan, 2.9e9, 100000));
    assert_true(InterruptionPlan_is_due(&plan, 3e9, 3));
    InterruptionPlan_done(&plan, 3e9, 3, true);
    assert_false(InterruptionPlan_is_due(&plan, 12.9e9, 100000));
    assert_false(InterruptionPlan_is_due(&plan, 13e9, 1002));
    assert_true(InterruptionPlan_is_due(&plan, 13e9, 1003));
    assert_false(InterruptionPlan_is_due(&plan, 1e15, 1002));
    InterruptionPlan_done(&plan, 20e9, 5000, true);
    assert_false(InterruptionPlan_is_due(&plan, 29e9, 6000));
    assert_true(InterruptionPlan_is_due(&plan, 30e9, 6000));
}

// As with a clock that takes too long to be read.
static void test_what_cannot_be_measured_is_tried_ever_more_rarely(void **state)
{
    struct InterruptionPlan plan = {0};
    double now = 3e9;
    int tries = 0;

    (void)state;
    for (; now < 3600e9; now += 1e9)
        if (InterruptionPlan_is_due(&plan, now, (uint64_t)(now * 1e-6))) {
            InterruptionPlan_done(&plan, now, (uint64_t)(now * 1e-6), false);
            tries++;
        }
    assert_between(tries, 10, 13);
    InterruptionPlan_done(&plan, now, 0, true);
    assert_true(InterruptionPlan_is_due(&plan, now + 10e9, 1000));
}

// Of some microseconds. It has one CPU: where system calls are filtered, two
// would do it no harm.
static void test_it_costs_something(void **state)
{
    cpu_set_t before, one;
    uint64_t cpu_ns = 0;
    double each = 0;
    int tries;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    for (tries = 0; tries < 20 && !(each > 0 && each < PAUSE_S); tries++)
        each = Interruption_measure(&cpu_ns);
    assert_true(each > 0.2e-6);
    assert_true(each < PAUSE_S);
    assert_between(cpu_ns, 1, 100000000); // who woke up has used some, too
    sched_setaffinity(0, sizeof before, &before);
}

static double cpu_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int measure_filtered(void)
{
    double before = cpu_s();
    uint64_t cpu_ns;

    return Interruption_measure(&cpu_ns) == 0 && cpu_s() - before < 1e-3 ? 0
                                                                         : 1;
}

// As in a container: what cannot be measured is not tried.
static void test_where_system_calls_are_filtered(void **state)
{
    cpu_set_t cpus;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof cpus, &cpus), 0);
    if (CPU_COUNT(&cpus) < 2)
        skip();
    expect_in_a_cage(NULL, 0, measure_filtered);
}

// Of a class that keeps its CPU: it does not spin for as long as it may, and
// nobody else run.
static void test_a_real_time_program_goes_on(void **state)
{
    const struct sched_param first = {.sched_priority = 1}, usual = {0};
    double before, cost_s, took_s;
    uint64_t cpu_ns;

    (void)state;
    if (sched_setscheduler(0, SCHED_FIFO, &first) != 0)
        skip(); // may not
    before = cpu_s();
    cost_s = Interruption_measure(&cpu_ns);
    took_s = cpu_s() - before;
    assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &usual), 0);
    assert_true(cost_s == 0);
    assert_true(took_s < 10e-3);
}

static void test_the_thread_goes_where_it_might_before(void **state)
{
    cpu_set_t before, after;
    uint64_t cpu_ns;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    Interruption_measure(&cpu_ns);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_memory_equal(&before, &after, sizeof before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_counts),
        cmocka_unit_test(test_each_at_the_price_of_its_time),
        cmocka_unit_test(test_a_late_price_is_for_the_first_seconds),
        cmocka_unit_test(test_when_it_is_measured),
        cmocka_unit_test(
            test_what_cannot_be_measured_is_tried_ever_more_rarely),
        cmocka_unit_test(test_it_costs_something),
        cmocka_unit_test(test_where_system_calls_are_filtered),
        cmocka_unit_test(test_a_real_time_program_goes_on),
        cmocka_unit_test(test_the_thread_goes_where_it_might_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
