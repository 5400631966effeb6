// SPDX-License-Identifier: MIT
// tracer/budget/budget against simulated programs: that the budget is held,
// that it is used, that nothing swings, and that steps are recovered from.
#include "tracer/budget/budget.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define TICK 0.2
#define DELAYS 32 // ticks over which reserved hits may come
#define CALL 300e-9

// A program and its tracing: what is reserved is spent bit by bit, the
// sampler costs what it costs.
struct World {
    struct Budget budget;
    struct BudgetReading now; // cpu is the program's alone
    double (*cores)(double t);
    double sample; // s
    double fixed;  // cores that the governor and the rest take
    double shown;  // cores that snapshots take; half where it is throttled
    double item;   // s that a re-arming is predicted to cost
    double true_item;
    double demand;  // re-armings a second, at most
    unsigned delay; // ticks until all of what was reserved has come
    double armed;   // functions that use all hits of each window
    uint64_t hits;  // the threshold that floats,
    uint64_t given; // ... and what they have of it: no more while they idle
    double coming[DELAYS];
    unsigned tick, rearmed;
    double hz, least_level, most_level;
};

static double one_core(double t)
{
    (void)t;
    return 1;
}

static double tenth(double t)
{
    (void)t;
    return 0.1;
}

static double four_cores(double t)
{
    (void)t;
    return 4;
}

static double bursts(double t) // a second in ten
{
    return fmod(t, 10) < 1 ? 1 : 0;
}

static double spells(double t) // of idleness
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
    struct World w = {.cores = cores,
                      .sample = 30e-6,
                      .fixed = 0.0004,
                      .item = 10e-6,
                      .true_item = 10e-6,
                      .demand = 1e9,
                      .hits = 500,
                      .given = 500,
                      .delay = 5};

    Budget_init(&w.budget, share, &w.now);
    return w;
}

static void rearm(struct World *w)
{
    double reserved = Budget_available(&w->budget, 0);

    // A budget without a limit on reservations fails here, and not by a
    // timeout.
    assert_true(reserved < INFINITY || !(w->budget.share > 0));
    for (double n = 0;
         n < w->demand * TICK && Budget_available(&w->budget, 0) > 0; n++) {
        assert_true(n * w->item < reserved * (1 + 1e-6));
        Budget_reserve(&w->budget, w->item);
        w->rearmed++;
        for (unsigned i = 0; i < w->delay; i++)
            w->coming[(w->tick + 1 + i) % DELAYS] += w->true_item / w->delay;
    }
}

static void turn(struct World *w)
{
    const struct BudgetHooks hooks = {CALL, w->armed, 500};
    struct BudgetReading r;
    double sampler;

    // Without a budget it stays as it is: control.c.
    w->hz = w->budget.share > 0 ? Budget_hz(&w->budget) : 100;
    w->tick++;
    w->now.wall += TICK;
    w->now.cpu += w->cores(w->now.wall) * TICK;
    w->now.hooks += w->coming[w->tick % DELAYS];
    w->coming[w->tick % DELAYS] = 0;
    if (w->cores(w->now.wall) > 0)
        w->now.hooks += TICK * w->armed * (double)w->given * CALL;
    sampler = w->hz * w->cores(w->now.wall) * TICK * w->sample;
    w->now.sampling += sampler;
    w->now.samples = (uint64_t)(w->now.sampling / w->sample);
    w->now.threads += sampler + w->fixed * TICK / 2;
    w->now.threads +=
        w->shown * TICK * (Budget_is_throttled(&w->budget) ? 0.5 : 1);
    w->now.rearm += w->fixed * TICK / 2;
    r = reading(w);
    Budget_read(&w->budget, &r);
    if (w->budget.share > 0)
        w->hits = Budget_hits(&w->budget, w->hits, &hooks);
    if (w->cores(w->now.wall) > 0 || w->hits < w->given)
        w->given = w->hits;
    rearm(w);
    w->least_level = fmin(w->least_level, w->budget.level / w->budget.rate);
    w->most_level = fmax(w->most_level, w->budget.level / w->budget.rate);
}

static void run(struct World *w, double seconds)
{
    for (double until = w->now.wall + seconds; w->now.wall < until - TICK / 2;)
        turn(w);
}

static double spent(const struct World *w)
{
    return w->now.hooks + w->now.rearm + w->now.threads;
}

// Within the allowance of that time plus what the bucket holds and a window's
// hits; and most of it.
static void expect_held_and_used(struct World *w, double share, double from,
                                 double use)
{
    double cpu = w->now.cpu, wall = w->now.wall, before = spent(w);
    double allowed;

    run(w, from);
    allowed =
        share * fmax(w->now.cpu - cpu, BUDGET_CORES * (w->now.wall - wall));
    assert_true(spent(w) - before <= allowed + 3 * w->budget.rate);
    assert_true(spent(w) - before >= use * allowed);
}

static const double SHARES[] = {0.005, 0.01, 0.02, 0.05};
static double (*const PROGRAMS[])(double) = {one_core, tenth, four_cores,
                                             bursts};

static void test_held_and_used(void **state)
{
    (void)state;
    for (size_t p = 0; p < sizeof PROGRAMS / sizeof *PROGRAMS; p++)
        for (size_t s = 0; s < sizeof SHARES / sizeof *SHARES; s++) {
            struct World w = world(PROGRAMS[p], SHARES[s]);

            // Of so little two thirds would be fixed: the governor's wake-ups.
            w.fixed = 0.0001;
            w.armed = 50;
            run(&w, 30);
            // What a burst brings in is spent in the burst, or it is too late;
            // and of much, the sampler cannot use its part.
            expect_held_and_used(
                &w, SHARES[s], 120,
                PROGRAMS[p] == bursts || SHARES[s] > 0.02 ? 0.6 : 0.85);
        }
}

static double measured(const struct World *w)
{
    return Budget_window(&w->budget).measured;
}

// From the first second to the last: the mean is the budget's.
static void test_the_mean_converges(void **state)
{
    struct World w = world(one_core, 0.01);

    (void)state;
    run(&w, 600);
    assert_true(fabs(Budget_mean(&w.budget) - 0.009) < 0.0002);
    assert_true(fabs(spent(&w) / w.now.cpu - 0.009) < 0.0002);
}

// A window that holds a spell in which the program idles and our threads do not
// is over what is allowed there by a tenth at most, nearly always.
static void test_windows_with_idle_spells(void **state)
{
    struct World w = world(spells, 0.01);
    unsigned over = 0;

    (void)state;
    w.fixed = 0.0025;
    run(&w, 60);
    for (int i = 0; i < 400; i++) {
        struct BudgetShares shares;

        run(&w, 1);
        shares = Budget_window(&w.budget);
        over += shares.measured > 1.1 * shares.allowed;
    }
    assert_true(over < 20);
}

// The same where snapshots take most of it: they wait, while the program
// pauses and only then. (80 windows would be over.)
static void test_snapshots_wait_in_idle_spells(void **state)
{
    struct World w = world(spells, 0.01);
    unsigned over = 0, throttled_at_work = 0, throttled_idle = 0;

    (void)state;
    w.fixed = 0.001;
    w.shown = 0.0035;
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

static double fewer_cores(double t)
{
    return t < 60 ? 8 : 0.6;
}

// Who works, if with less than before, or never, or has no budget.
static void test_snapshots_do_not_wait_otherwise(void **state)
{
    struct World worlds[] = {world(fewer_cores, 0.01), world(one_core, 0.005),
                             world(idle, 0.01), world(spells, NAN)};

    (void)state;
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        worlds[i].shown = 0.0035;
        worlds[i].demand = 1000;
        for (int n = 0; n < 400; n++) {
            run(&worlds[i], 0.2);
            assert_false(Budget_is_throttled(&worlds[i].budget));
        }
    }
}

// Hits that cost thrice what was predicted, or a third, and come late.
static void test_predictions_may_be_wrong(void **state)
{
    static const double truths[] = {30e-6, 3e-6};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct World w = world(one_core, 0.01);

        w.true_item = truths[i];
        w.delay = 20;
        run(&w, 60);
        for (int n = 0; n < 100; n++) {
            run(&w, 1);
            assert_true(measured(&w) < 0.0101);
            assert_true(measured(&w) > (i == 0 ? 0.0085 : 0.006));
        }
    }
}

static void test_nothing_swings(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof SHARES / sizeof *SHARES; s++) {
        struct World w = world(one_core, SHARES[s]);
        double least = INFINITY, most = 0;
        unsigned before;

        run(&w, 40);
        for (int i = 0; i < 60; i++) {
            before = w.rearmed;
            run(&w, 1);
            least = fmin(least, w.rearmed - before);
            most = fmax(most, w.rearmed - before);
        }
        assert_true(least > 0 && most < 1.25 * least);
    }
}

// A storm of hooks at the start: paid back, and the numbers live on meanwhile.
static void test_a_storm_is_paid_back(void **state)
{
    struct World w = world(one_core, 0.01);
    unsigned before;

    (void)state;
    w.coming[2] = 0.08; // four times what the bucket holds
    run(&w, 1);
    assert_true(w.budget.level < 0);
    before = w.rearmed;
    run(&w, 5); // in debt, the minimum rate
    assert_true(w.rearmed - before > 50);
    run(&w, 54);
    assert_true(w.budget.level > 0);
    assert_true(spent(&w) <= 0.01 * w.now.cpu + 0.021);
    before = w.rearmed;
    run(&w, 10);
    assert_true(w.rearmed - before > 10 * 200);
}

// What cannot be paid back in a while is forgiven.
static void test_a_debt_ends(void **state)
{
    struct World w = world(one_core, 0.01);

    (void)state;
    assert_true(Budget_pressure(&w.budget) == 0);
    w.coming[2] = 3;
    run(&w, 0.6);
    assert_true(Budget_pressure(&w.budget) == 1);
    assert_true(w.budget.level < -3.5 * w.budget.rate);
    assert_true(w.budget.level >= -4.1 * w.budget.rate);
    run(&w, 30);
    assert_true(w.budget.level > 0);
}

static void test_steps(void **state)
{
    struct World up = world(step_up, 0.01), down = world(step_down, 0.01);

    (void)state;
    run(&up, 59);
    assert_true(fabs(up.budget.rate - 0.2 * 0.01) < 1e-6);
    run(&up, 5); // four seconds of the new load
    assert_true(fabs(up.budget.rate - 0.01) < 1e-6);
    run(&up, 11);
    assert_true(measured(&up) > 0.008 && measured(&up) < 0.012);
    run(&down, 65);
    assert_true(fabs(down.budget.rate - 0.2 * 0.01) < 1e-6);
    run(&down, 10);
    assert_true(measured(&down) > 0.007 && measured(&down) < 0.0125);
}

static void test_the_budget_is_changed(void **state)
{
    struct World w = world(one_core, 0.05);

    (void)state;
    w.armed = 50;
    run(&w, 60);
    Budget_set(&w.budget, 0.005);
    run(&w, 13);
    assert_true(measured(&w) < 0.0051);
    run(&w, 8); // what was reserved before it came after, and is paid back
    assert_true(measured(&w) < 0.0051 && measured(&w) > 0.004);
    Budget_set(&w.budget, 0.02);
    run(&w, 13);
    assert_true(measured(&w) < 0.0185 && measured(&w) > 0.017);
}

// Nothing to measure against; what a fifth of a core allows may still be spent.
static void test_idle(void **state)
{
    struct World w = world(idle, 0.01);

    (void)state;
    w.demand = 0;
    w.fixed = 0.0001;
    run(&w, 60);
    assert_true(isnan(measured(&w)));
    assert_true(fabs(Budget_window(&w.budget).cores - .0001) < 1e-6);
    assert_true(fabs(Budget_window(&w.budget).cores_allowed -
                     0.01 * BUDGET_CORES) < 1e-9);
    assert_true(Budget_cores(&w.budget) == 0);
    assert_true(fabs(w.budget.rate - 0.01 * BUDGET_CORES) < 1e-9);
    assert_true(w.budget.level > 0);
    w.cores = one_core; // a burst does not come upon years of savings
    w.demand = 1e9;
    expect_held_and_used(&w, 0.01, 60, 0.85);
    assert_true(fabs(Budget_cores(&w.budget) - 1) < 0.001);
}

// What a busy spell has left is for the next one: as soon as the program pauses
// no more is spent than it earns then.
static void test_savings_are_kept_for_work(void **state)
{
    struct World w = world(one_core, 0.01);
    unsigned before;

    (void)state;
    w.demand = 10;
    run(&w, 60);
    assert_true(w.budget.level > 1.9 * 0.01);
    w.cores = idle;
    w.demand = 1e9;
    run(&w, 0.8); // until that is seen
    before = w.rearmed;
    run(&w, 1.2);
    assert_true(w.budget.level > 0.011);
    assert_true((w.rearmed - before) * w.item <
                1.05 * 1.2 * 0.01 * BUDGET_CORES);
    w.cores = one_core;
    before = w.rearmed;
    run(&w, 2);
    assert_true((w.rearmed - before) * w.item > 0.0025);
}

// A busy spell counts for the idle time that follows: no more than the larger
// of the two is ever allowed.
static void test_the_floor_is_no_supplement(void **state)
{
    struct World w = world(bursts, 0.01);

    (void)state;
    w.fixed = 0.0001;
    w.budget.level = 0;
    run(&w, 100);
    assert_true(spent(&w) < 0.01 * (1.05 * fmax(BUDGET_CORES * 100, w.now.cpu) +
                                    2 * BUDGET_CORES));
}

// A viewer too many: fixed costs alone are above the budget. The sampler gives
// half of its part away, and something is re-armed all the same.
static void test_fixed_costs_above_it(void **state)
{
    struct World w = world(one_core, 0.005);
    unsigned before;
    uint64_t samples;

    (void)state;
    w.fixed = 0.006;
    run(&w, 60);
    before = w.rearmed;
    samples = w.now.samples;
    run(&w, 30);
    assert_float_equal(w.hz, 0.2 * 0.005 / w.sample, 1);
    assert_true(w.now.samples - samples <= 30 * 34);
    assert_true(w.rearmed - before > 30 * 20);
    assert_true(measured(&w) < 0.0075);
}

// Of each second of CPU time, however many of them there are in one of time.
static void test_the_samplers_rate(void **state)
{
    struct World cheap = world(one_core, 0.01), dear = cheap;
    struct World wide = world(four_cores, 0.01);

    (void)state;
    dear.sample = 45e-6;
    cheap.demand = dear.demand = wide.demand = 10;
    run(&cheap, 20);
    run(&wide, 20);
    assert_true(fabs(wide.hz - 0.65 * 0.01 / 30e-6) < 3);
    run(&dear, 20);
    assert_true(fabs(cheap.hz - 0.65 * 0.01 / 30e-6) < 3);
    assert_true(fabs(dear.hz - 0.65 * 0.01 / 45e-6) < 3);
    cheap.sample = 1e-9; // no clock is that good
    run(&cheap, 20);
    assert_true(cheap.hz == 250);
    dear.sample = 1;
    run(&dear, 60);
    assert_true(dear.hz == 10); // at least, in debt as it is
}

// Where hooks take all that they can get, and where the program pauses, it has
// four tenths.
static void test_the_samplers_part(void **state)
{
    struct World w = world(one_core, 0.01);

    (void)state;
    w.armed = 50;
    run(&w, 60);
    assert_true(w.budget.level / w.budget.rate < 1.1);
    assert_true(w.hz < 0.43 * 0.01 / w.sample);
    w.demand = w.armed = 0;
    run(&w, 20);
    assert_true(w.hz > 0.64 * 0.01 / w.sample);
    w.fixed = 0.0045; // little is left
    run(&w, 40);
    assert_true(w.budget.level / w.budget.rate > 1.5);
    assert_true(w.hz > 0.42 * 0.01 / w.sample);
    assert_true(w.hz < 0.5 * 0.01 / w.sample);
    w.fixed = 0.0004;
    run(&w, 20);
    w.cores = idle;
    run(&w, 3);
    assert_true(w.budget.level / w.budget.rate > 1.9);
    assert_true(w.hz < 0.41 * 0.01 / w.sample); // no more than its part
}

static void test_the_window(void **state)
{
    struct World w = world(one_core, NAN);
    struct BudgetShares shares;

    (void)state;
    w.demand = 0;
    w.fixed = 0.02;
    run(&w, 30);
    w.now.hooks += 1; // a tenth of the window's time
    run(&w, 4);
    shares = Budget_window(&w.budget);
    assert_true(fabs(shares.hooks - 0.1) < 0.003);
    assert_true(fabs(shares.rearm - 0.01) < 0.0005);
    assert_true(fabs(shares.measured - shares.hooks - shares.rearm -
                     shares.threads) < 1e-9);
    assert_true(isnan(shares.allowed) && isnan(shares.cores_allowed));
    assert_true(fabs(shares.cores / shares.measured - 1) < 0.12); // of one core
    run(&w, 11); // it has left the window, not the mean
    assert_true(Budget_window(&w.budget).hooks == 0);
    assert_true(Budget_mean(&w.budget) > 1.0 / 50);
}

// Without a budget nothing is held back.
static void test_without_a_budget(void **state)
{
    struct World w = world(one_core, NAN);

    (void)state;
    w.demand = 0;
    w.now.hooks += 5;
    run(&w, 5);
    assert_true(isinf(Budget_available(&w.budget, 0)));
    assert_true(Budget_pressure(&w.budget) == 0);
}

// The threshold follows what the hooks cost, and what is left: it at most
// doubles from one reading to the next, and is never less than what the part of
// the hooks bears if all functions take as many.
static void test_hits(void **state)
{
    struct BudgetHooks hooks = {CALL, 9, 500};
    struct World w = world(one_core, 0.01);
    uint64_t hits;

    (void)state;
    w.demand = 0;
    run(&w, 10);
    w.budget.level = 2 * 0.01; // nobody uses them: to what four may cost
    hits = Budget_hits(&w.budget, 1000, &hooks);
    assert_int_equal(hits, 2000);
    for (int i = 0; i < 20; i++)
        hits = Budget_hits(&w.budget, hits, &hooks);
    assert_int_equal(hits, (uint64_t)(0.04 / (4 * CALL)));
    w.budget.last.hooks += 0.0051; // over 0.6 s: 1.7 times their part
    assert_true(Budget_hits(&w.budget, 10000, &hooks) < 10000 * 0.6);
    assert_true(Budget_hits(&w.budget, 10000, &hooks) > 10000 * 0.57);
    w.budget.last.hooks += 1;
    assert_int_equal(Budget_hits(&w.budget, 10000, &hooks), 5000);
    w.budget.level = -0.02; // as long in debt: nothing for whoever gets hot
    assert_int_equal(Budget_hits(&w.budget, 10000, &hooks), 500);
    hooks.active = 99;
    assert_int_equal(Budget_hits(&w.budget, 10000, &hooks), 83);
    w.budget.level = 0; // nothing owed: all that their part bears
    assert_int_equal(Budget_hits(&w.budget, 100, &hooks), 166);
    w.budget.level = -0.02;
    hooks.active = 1e6;
    assert_int_equal(Budget_hits(&w.budget, 10000, &hooks), 16);
}

// Somebody's wish may empty the token bucket at once, and then has to wait.
static void test_wishes(void **state)
{
    struct World w = world(one_core, 0.01);
    double reserved = 0, level;

    (void)state;
    w.demand = 1;
    run(&w, 10);
    level = w.budget.level;
    w.budget.credit = 0;
    assert_false(Budget_available(&w.budget, 0) > 0);
    for (; reserved < 1 && Budget_available(&w.budget, 1) > 0;
         reserved += 50e-6)
        Budget_reserve(&w.budget, 50e-6);
    assert_true(fabs(reserved - level) < 100e-6);
    run(&w, 3);
    assert_true(Budget_available(&w.budget, 1) > 0);
}

// Clocks read one after the other may contradict each other, and two readers
// may come in the wrong order.
static void test_odd_readings(void **state)
{
    struct BudgetReading start = {0}, odd = {.wall = 1, .cpu = 0.1};
    struct Budget budget;

    (void)state;
    Budget_init(&budget, 0.01, &start);
    odd.threads = 0.2; // more than all
    Budget_read(&budget, &odd);
    assert_true(isfinite(budget.level) && isfinite(budget.rate));
    assert_true(isnan(Budget_window(&budget).measured));
    odd.wall = 0.9;
    odd.cpu = 0.05;
    Budget_read(&budget, &odd);
    assert_true(budget.last.wall == 1);
    odd.wall = 1e6; // stopped for days
    odd.cpu = 1.2;
    Budget_read(&budget, &odd);
    assert_true(budget.level <= 2 * budget.rate);
    assert_true(Budget_hz(&budget) >= 10 && Budget_hz(&budget) <= 250);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_held_and_used),
        cmocka_unit_test(test_the_mean_converges),
        cmocka_unit_test(test_windows_with_idle_spells),
        cmocka_unit_test(test_snapshots_wait_in_idle_spells),
        cmocka_unit_test(test_snapshots_do_not_wait_otherwise),
        cmocka_unit_test(test_predictions_may_be_wrong),
        cmocka_unit_test(test_nothing_swings),
        cmocka_unit_test(test_a_storm_is_paid_back),
        cmocka_unit_test(test_a_debt_ends),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_the_budget_is_changed),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_savings_are_kept_for_work),
        cmocka_unit_test(test_the_floor_is_no_supplement),
        cmocka_unit_test(test_fixed_costs_above_it),
        cmocka_unit_test(test_the_samplers_rate),
        cmocka_unit_test(test_the_samplers_part),
        cmocka_unit_test(test_the_window),
        cmocka_unit_test(test_without_a_budget),
        cmocka_unit_test(test_hits),
        cmocka_unit_test(test_wishes),
        cmocka_unit_test(test_odd_readings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
