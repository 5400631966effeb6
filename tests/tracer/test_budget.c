// SPDX-License-Identifier: MIT
// Tests tracer/budget/budget with simulated programs. The tests check the
// allowed overhead, the measured costs, and the parts of the allowed overhead
// that the sampler and the hooks get.
#include "tracer/budget/budget.h"

#include <math.h>
#include <stdbool.h>

#include "tests/unit.h"

#define TICK 0.2
#define DELAYS 32 // Hook time can be planned for this many ticks.

// A simulated program and its tracing.
struct World {
    struct Budget budget;
    // `now.cpu` is the CPU time of the program without tracing.
    struct BudgetReading now;
    double (*cores)(double t);
    double sample; // Seconds that one sample takes.
    double fixed;  // Cores that the governor and other fixed costs take.
    // Cores that snapshots take. Throttled snapshots take half of this number.
    double shown;
    double hooks; // Fraction of the program's time that hooks take.
    double coming[DELAYS];
    unsigned tick;
    double hz, least_level, most_level;
};

static double one_core(double t)
{
    (void)t;
    return 1;
}

static double spells(double t) // The program pauses from time to time.
{
    return fmod(t, 20) < 16 ? 1 : 0.05;
}

static double idle(double t)
{
    (void)t;
    return 0;
}

static double step_up(double t)
{
    return t < 60 ? 0.2 : 1;
}

static double step_down(double t)
{
    return t < 60 ? 1 : 0.2;
}

static struct BudgetReading reading(const struct World *w)
{
    struct BudgetReading r = w->now;

    r.cpu += r.hooks + r.rearm + r.threads;
    return r;
}

static struct World world(double (*cores)(double), double share)
{
    struct World w = {
        .cores = cores, .sample = 30e-6, .fixed = 0.0004, .hooks = 0.4 * share};

    Budget_init(&w.budget, share, &w.now);
    return w;
}

static void turn(struct World *w)
{
    struct BudgetReading r;
    double sampler;

    // Without a budget the sampling rate does not change (control.c).
    w->hz = w->budget.share > 0 ? Budget_hz(&w->budget) : 100;
    w->tick++;
    w->now.wall += TICK;
    w->now.cpu += w->cores(w->now.wall) * TICK;
    w->now.hooks += w->coming[w->tick % DELAYS];
    w->coming[w->tick % DELAYS] = 0;
    w->now.hooks += TICK * w->hooks * w->cores(w->now.wall);
    sampler = w->hz * w->cores(w->now.wall) * TICK * w->sample;
    w->now.sampling += sampler;
    w->now.samples = (uint64_t)(w->now.sampling / w->sample);
    w->now.threads += sampler + w->fixed * TICK / 2;
    w->now.threads +=
        w->shown * TICK * (Budget_is_throttled(&w->budget) ? 0.5 : 1);
    w->now.rearm += w->fixed * TICK / 2;
    r = reading(w);
    Budget_read(&w->budget, &r);
    w->least_level = fmin(w->least_level, w->budget.level / w->budget.rate);
    w->most_level = fmax(w->most_level, w->budget.level / w->budget.rate);
}

static void run(struct World *w, double seconds)
{
    for (double until = w->now.wall + seconds; w->now.wall < until - TICK / 2;)
        turn(w);
}

// If snapshots take most of the budget, snapshots are throttled, but only while
// the program pauses.
TEST(test_snapshots_wait_in_idle_spells)
{
    struct World w = world(spells, 0.01);
    unsigned over = 0, throttled_at_work = 0, throttled_idle = 0;

    w.fixed = 0.001;
    w.shown = 0.0035;
    w.hooks = 0.0005;
    run(&w, 60);
    for (int i = 0; i < 400; i++) {
        double at = fmod(w.now.wall + 0.5, 20);
        struct BudgetShares shares;
        bool throttled;

        run(&w, 1);
        shares = Budget_window(&w.budget);
        over += shares.measured > 1.1 * shares.allowed;
        throttled = Budget_is_throttled(&w.budget);
        throttled_idle += throttled && at > 16;
        throttled_at_work += throttled && at > 1 && at < 15;
    }
    assert_true(over < 40);
    assert_int_equal(throttled_at_work, 0);
    assert_true(throttled_idle > 40);
}

TEST(test_a_storm_is_paid_back)
{
    struct World w = world(one_core, 0.01);

    w.coming[2] = 0.08; // Four times the hook time that can be saved up.
    run(&w, 1);
    assert_true(Budget_is_overdrawn(&w.budget));
    run(&w, 120);
    assert_false(Budget_is_overdrawn(&w.budget));
}

// A debt of more than four seconds of budget is forgiven.
TEST(test_a_debt_ends)
{
    struct World w = world(one_core, 0.01);

    w.coming[2] = 3;
    run(&w, 0.6);
    assert_true(w.budget.level < -3.5 * w.budget.rate);
    assert_true(w.budget.level >= -4.1 * w.budget.rate);
    run(&w, 30);
    assert_true(w.budget.level > 0);
}

TEST(test_steps)
{
    struct World up = world(step_up, 0.01), down = world(step_down, 0.01);

    run(&up, 59);
    assert_true(fabs(up.budget.rate - 0.2 * 0.01) < 1e-6);
    run(&up, 5); // The new load has lasted four seconds.
    assert_true(fabs(up.budget.rate - 0.01) < 1e-6);
    run(&down, 65);
    assert_true(fabs(down.budget.rate - 0.2 * 0.01) < 1e-6);
}

// With many viewers, the fixed costs alone exceed the budget. Then the sampler
// still gets half of its part, and hooks a fifth of the allowed overhead.
TEST(test_fixed_costs_above_it)
{
    struct World w = world(one_core, 0.005);

    assert_float_equal(Budget_hooks(&w.budget), 0.5 * 0.005, 1e-6);
    run(&w, 60);
    assert_float_equal(Budget_hooks(&w.budget), 0.46 * 0.005, 1e-4);
    // Ocular's threads take half of the fixed costs. Installing hooks takes the
    // rest.
    w.fixed = 0.012;
    run(&w, 90);
    assert_float_equal(w.hz, 0.2 * 0.005 / w.sample, 1);
    assert_float_equal(Budget_hooks(&w.budget), 0.2 * 0.005, 1e-4);
    w.fixed = 0.0015;
    run(&w, 60);
    assert_float_equal(Budget_hooks(&w.budget), (0.5 - 0.15) * 0.005, 1e-4);
}

// The sampler gets 40 % of the allowed overhead if the hooks use their whole
// part, or if the program pauses.
TEST(test_the_samplers_part)
{
    struct World w = world(one_core, 0.01);

    w.hooks = 0.006;
    run(&w, 60);
    assert_true(w.hz < 0.43 * 0.01 / w.sample);
    w.hooks = 0;
    run(&w, 30);
    assert_true(w.hz > 0.64 * 0.01 / w.sample);
    w.cores = idle;
    run(&w, 3);
    // The sampler does not use more than its part.
    assert_true(w.hz < 0.41 * 0.01 / w.sample);
}

TEST(test_the_window)
{
    struct World w = world(one_core, NAN);
    struct BudgetShares shares;

    w.fixed = 0.02;
    w.hooks = 0;
    run(&w, 30);
    w.now.hooks += 1; // Hooks take a tenth of the window's time.
    run(&w, 4);
    shares = Budget_window(&w.budget);
    assert_true(fabs(shares.hooks - 0.1) < 0.003);
    assert_true(fabs(shares.rearm - 0.01) < 0.0005);
    assert_true(fabs(shares.measured - shares.hooks - shares.rearm -
                     shares.threads) < 1e-9);
    assert_true(isnan(shares.allowed) && isnan(shares.cores_allowed));
    // The program uses one core.
    assert_true(fabs(shares.cores / shares.measured - 1) < 0.12);
    // The burst still counts in the mean, but is no longer in the window.
    run(&w, 11);
    assert_true(Budget_window(&w.budget).hooks == 0);
    assert_true(Budget_mean(&w.budget) > 1.0 / 50);
}

// Clocks that are read one after the other can contradict each other. Readings
// of two threads can come in the wrong order.
TEST(test_odd_readings)
{
    struct BudgetReading start = {0}, odd = {.wall = 1, .cpu = 0.1};
    struct Budget budget;

    Budget_init(&budget, 0.01, &start);
    odd.threads = 0.2; // Impossible, because it exceeds `cpu`.
    Budget_read(&budget, &odd);
    assert_true(isfinite(budget.level) && isfinite(budget.rate));
    assert_true(isnan(Budget_window(&budget).measured));
    odd.wall = 0.9;
    odd.cpu = 0.05;
    Budget_read(&budget, &odd);
    assert_true(budget.last.wall == 1);
    odd.wall = 1e6; // The program was stopped for days.
    odd.cpu = 1.2;
    Budget_read(&budget, &odd);
    assert_true(budget.level <= 2 * budget.rate);
    assert_true(Budget_hz(&budget) >= 10 && Budget_hz(&budget) <= 250);
}
