// SPDX-License-Identifier: MIT
// tracer/budget/policy, together with tracer/budget/budget, against simulated
// programs: who is armed again, how often, and what that costs.
#include "tracer/budget/policy.h"

#include "tests/sanitizers.h"
#include "tracer/budget/budget.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TICK 0.2
#define RANK 1.0

#define LEAVING 60e-9

static const struct PolicyCosts COSTS = {.call = 70e-9, .site = 35e-9};

struct Function {
    double rate;  // calls a second
    double share; // of a core
    uint32_t bytes, sites;
    // As the governor sees it.
    struct RearmWindow window;
    bool armed;
    double left;   // hits to come
    double seen;   // time of the newest hit
    double oldest; // the greatest age it has come to
    uint64_t timed;
    unsigned rearms;
};

struct World {
    struct Budget budget;
    struct BudgetReading now; // cpu is the program's
    struct Function *functions;
    size_t count;
    struct Plan plan;
    double ranked, toggles, hits_cost;
};

static struct World world(size_t count, double share)
{
    struct World w = {.count = count,
                      .functions = calloc(count, sizeof(struct Function))};

    for (size_t i = 0; i < count; i++) {
        w.functions[i].bytes = 300;
        w.functions[i].sites = 3;
        w.functions[i].timed = 500;
        w.functions[i].window.calls = 500;
    }
    Budget_init(&w.budget, share, &w.now);
    return w;
}

static void release(struct World *w)
{
    Plan_release(&w->plan);
    free(w->functions);
}

static struct PolicyFunction seen_of(const struct World *w,
                                     const struct Function *f)
{
    return (struct PolicyFunction){.share = f->share,
                                   .age = w->now.wall - f->seen,
                                   .timed = f->timed,
                                   .bytes = f->bytes,
                                   .sites = f->sites};
}

static void rank(struct World *w)
{
    bool behind = Plan_is_behind(&w->plan);

    Plan_clear(&w->plan);
    for (size_t i = 0; i < w->count; i++) {
        struct Function *f = &w->functions[i];
        struct PolicyFunction function = seen_of(w, f);
        struct PlanItem item = {.id = (uint32_t)i};

        if (f->armed)
            continue;
        item.hits = Policy_hits(&function, Budget_pressure(&w->budget));
        item.seconds = Policy_cost(&COSTS, &function, item.hits);
        item.urgency = function.age /
                       Policy_interval(&function, item.seconds, w->budget.rate);
        if (behind) {
            item.hits = Policy_late_hits(item.hits, item.urgency);
            item.seconds = Policy_cost(&COSTS, &function, item.hits);
        }
        if (item.urgency >= 1)
            assert_int_equal(Plan_add(&w->plan, &item), 0);
    }
    Plan_sort(&w->plan);
    w->now.rearm += (double)w->count * 50e-9;
}

static void rearm(struct World *w)
{
    const struct PlanItem *item;

    while (Budget_available(&w->budget, 0) > 0 && (item = Plan_pop(&w->plan))) {
        struct Function *f = &w->functions[item->id];

        if (f->armed)
            continue;
        Budget_reserve(&w->budget, item->seconds);
        w->now.rearm += 1e-6 + 5e-9 * f->bytes;
        w->toggles += 1e-6 + 5e-9 * f->bytes;
        f->armed = true;
        f->left = item->hits;
        f->rearms++;
    }
}

// The hits of a tick.
static void call(struct World *w, struct Function *f)
{
    double hits = f->rate * TICK;

    f->oldest = fmax(f->oldest, w->now.wall - f->seen);
    if (!f->armed || hits <= 0)
        return;
    if (hits > f->left)
        hits = f->left;
    w->now.hooks += hits * (COSTS.call + COSTS.site * f->sites);
    w->hits_cost += hits * (COSTS.call + COSTS.site * f->sites);
    f->seen = w->now.wall;
    f->timed += (uint64_t)ceil(hits);
    f->left -= hits;
    if (f->left > 1e-9)
        return;
    w->now.hooks += LEAVING * (2 + f->sites);
    f->armed = false;
    RearmWindow_end(&f->window, f->timed);
    RearmWindow_begin(&f->window, f->timed);
}

static void run(struct World *w, double seconds, double cores)
{
    for (double until = w->now.wall + seconds;
         w->now.wall < until - TICK / 2;) {
        double sampler = Budget_hz(&w->budget) * cores * TICK * 30e-6;
        struct BudgetReading r;

        w->now.wall += TICK;
        w->now.cpu += cores * TICK;
        w->now.threads += sampler + 0.001 * TICK;
        w->now.sampling += sampler;
        w->now.samples = (uint64_t)(w->now.sampling / 30e-6);
        w->now.rearm += 0.0007 * TICK; // the slices
        for (size_t i = 0; i < w->count; i++)
            call(w, &w->functions[i]);
        r = w->now;
        r.cpu += r.hooks + r.rearm + r.threads;
        Budget_read(&w->budget, &r);
        if (w->now.wall - w->ranked >= RANK) {
            w->ranked = w->now.wall;
            rank(w);
        }
        rearm(w);
    }
}

static void forget_ages(struct World *w)
{
    for (size_t i = 0; i < w->count; i++)
        w->functions[i].oldest = 0;
}

static double oldest(const struct World *w)
{
    double age = 0;

    for (size_t i = 0; i < w->count; i++)
        if (w->functions[i].rate >= 1)
            age = fmax(age, w->functions[i].oldest);
    return age;
}

// --- Programs ----------------------------------------------------------------

// Shares fall as 1/n; all are called at least once a second.
static struct World long_tail(size_t count, double budget)
{
    struct World w = world(count, budget);

    for (size_t i = 0; i < count; i++) {
        w.functions[i].share = 0.12 / (double)(i + 1);
        w.functions[i].rate = fmax(1, 50000.0 / (double)(i + 1));
    }
    return w;
}

static void test_nobody_is_older_than_half_a_minute(void **state)
{
    static const double budgets[] = {0.01, 0.02, 0.05};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct World w = long_tail(2000, budgets[i]);

        run(&w, 60, 1);
        forget_ages(&w);
        run(&w, 120, 1);
        assert_true(oldest(&w) < 20);
        assert_true(w.functions[0].oldest < 3);
        assert_true(Budget_window(&w.budget).measured < budgets[i] * 1.03);
        release(&w);
    }
}

// Where there is too little for all, each has fewer hits, so that more are
// armed: 36 s without that.
static void test_who_is_late_has_fewer_hits(void **state)
{
    struct World w = long_tail(11000, 0.01);

    (void)state;
    run(&w, 60, 1);
    forget_ages(&w);
    run(&w, 120, 1);
    assert_true(oldest(&w) < 30);
    assert_true(Budget_window(&w.budget).measured < 0.01 * 1.03);
    release(&w);
    assert_int_equal(Policy_late_hits(64, 1.25), 64);
    assert_int_equal(Policy_late_hits(64, 1.625), 40);
    assert_int_equal(Policy_late_hits(64, 2), 16);
    assert_int_equal(Policy_late_hits(64, INFINITY), 16);
    assert_int_equal(Policy_late_hits(16, 3), 16);
}

// All stretch alike where there is too little for all: nothing starves.
static void test_too_many_for_the_budget(void **state)
{
    struct World w = long_tail(UNDER_ASAN ? 5000 : 20000, 0.005);
    double least = INFINITY;

    (void)state;
    run(&w, 240, 1);
    for (size_t i = 0; i < w.count; i++) {
        least = fmin(least, w.functions[i].rearms);
        w.functions[i].oldest = 0;
    }
    assert_true(least >= 1);
    run(&w, 240, 1);
    assert_true(oldest(&w) < 240);
    // The hot one is stretched as well, and comes first all the same.
    assert_true(w.functions[0].oldest < 30);
    assert_true(Budget_window(&w.budget).measured < 0.005 * 1.1);
    release(&w);
}

static void test_a_phase_change(void **state)
{
    struct World w = long_tail(2000, 0.01);

    (void)state;
    run(&w, 60, 1);
    for (int i = 0; i < 3; i++) // nobody had called these
        assert_true(w.functions[i].rearms > 0);
    for (size_t i = 0; i < w.count; i++) {
        struct Function *f = &w.functions[i];

        f->share = 0.12 / (double)(w.count - i);
        f->rate = 50000.0 / (double)(w.count - i);
        f->oldest = 0;
    }
    run(&w, 5, 1);
    for (size_t i = w.count - 10; i < w.count; i++)
        assert_true(w.now.wall - w.functions[i].seen < 5);
    release(&w);
}

// What never runs is armed once, waits, and costs nothing more.
static void test_what_never_runs(void **state)
{
    struct World w = world(3000, 0.01);

    (void)state;
    for (size_t i = 0; i < 10; i++) {
        w.functions[i].rate = 1000;
        w.functions[i].share = 0.05;
    }
    run(&w, 60, 1);
    for (size_t i = 10; i < w.count; i++)
        assert_int_equal(w.functions[i].rearms, 1);
    forget_ages(&w);
    run(&w, 60, 1);
    assert_true(w.functions[0].oldest < 4);
    release(&w);
}

// 31 KB of bytecode in one loop of a thousand sites: dear, so armed seldom,
// but armed; the others do not wait for it.
static void test_a_huge_function(void **state)
{
    struct World w = long_tail(500, 0.005);
    struct Function *huge = &w.functions[3];

    (void)state;
    huge->bytes = 31000;
    huge->sites = 1000;
    run(&w, 30, 1);
    forget_ages(&w);
    run(&w, 120, 1);
    assert_true(huge->oldest < 30);
    assert_true(huge->rearms < 60);
    assert_true(w.functions[4].oldest < 5);
    assert_true(Budget_window(&w.budget).measured < 0.005 * 1.1);
    release(&w);
}

// A second of work in ten: of the little that is earned all are kept fresh.
static void test_a_second_of_work_in_ten(void **state)
{
    struct World w = long_tail(200, 0.01);

    (void)state;
    for (int i = 0; i < 20; i++) {
        double rates[200];

        run(&w, 1, 1);
        for (int n = 0; n < 200; n++) {
            rates[n] = w.functions[n].rate;
            w.functions[n].rate = 0;
        }
        run(&w, 9, 0);
        for (int n = 0; n < 200; n++)
            w.functions[n].rate = rates[n];
    }
    forget_ages(&w);
    run(&w, 1, 1);
    assert_true(oldest(&w) < 30);
    assert_true(w.now.hooks + w.now.rearm + w.now.threads <
                0.0027 * w.now.wall + 0.02); // mostly what is fixed here
    release(&w);
}

// --- The parts
// -----------------------------------------------------------------

static void test_intervals(void **state)
{
    struct PolicyFunction f = {0};
    double before = Policy_interval(&f, 0, 0.01);

    (void)state;
    assert_true(before == 12);
    for (f.share = 0.001; f.share < 1; f.share *= 2) {
        assert_true(Policy_interval(&f, 0, 0.01) <= before);
        before = Policy_interval(&f, 0, 0.01);
    }
    assert_true(before == 1);
    assert_true(Policy_interval(&f, 0.001, 0.01) == 5); // dear
    assert_true(Policy_interval(&f, 1, 0.01) == 20);
    f.share = 0.01;
    assert_true(Policy_interval(&f, 0, 0.01) == 6);
    f.misses = 3;
    assert_true(Policy_interval(&f, 0, 0.01) == 48);
    f.misses = 1000;
    assert_true(Policy_interval(&f, 0, 0.01) == 96);
    f.misses = 0;
    assert_true(Policy_interval(&f, 0.02, 0.01) == 20);
    f.callees = 2000; // 2 s of allowance: the others have theirs first
    assert_true(Policy_interval(&f, 0.02, 0.01) == 100);
}

static void test_hits(void **state)
{
    struct PolicyFunction f = {.timed = 10};

    (void)state;
    assert_int_equal(Policy_hits(&f, 0), 64); // little is known
    f.timed = 5000;
    assert_int_equal(Policy_hits(&f, 0), 32);
    assert_int_equal(Policy_hits(&f, 0.25), 24);
    assert_int_equal(Policy_hits(&f, 1), 16);
    assert_true(Policy_callee_hits(0) < Policy_callee_hits(1));
}

// 1 us a call: nine functions and what comes with them, for 10 ms.
static void test_hits_of_all(void **state)
{
    const struct PolicyCosts costs = {.call = 1e-6};

    (void)state;
    assert_int_equal(Policy_all_hits(&costs, 9, 10e-3, 2000), 1000);
    assert_int_equal(Policy_all_hits(&costs, 99, 10e-3, 2000), 100);
    // All that was asked for, and no more than the threshold.
    assert_int_equal(Policy_all_hits(&costs, 0, 10e-3, 2000), 2000);
    assert_int_equal(Policy_all_hits(&costs, 9, INFINITY, 2000), 2000);
    // So few tell nothing: better a debt.
    assert_int_equal(Policy_all_hits(&costs, 10000, 10e-3, 2000), 64);
    assert_int_equal(Policy_all_hits(&costs, 9, 0, 2000), 64);
    assert_int_equal(Policy_all_hits(&costs, 10000, 10e-3, 20), 20);
}

// What is left over buys longer re-arm windows, of what is not dear by itself.
static void test_costs(void **state)
{
    struct PolicyFunction f = {.bytes = 200, .sites = 2};
    double alone = Policy_cost(&COSTS, &f, 10);

    (void)state;
    assert_true(fabs(alone - (1e-6 + 1e-6 + 10 * 140e-9 + 4 * 60e-9)) < 1e-12);
    f.callees = 2;
    assert_true(fabs(Policy_cost(&COSTS, &f, 10) - alone -
                     2 * (1e-6 + 120e-9 + 64 * 70e-9)) < 1e-12);
}

static void test_a_window_without_a_timed_call(void **state)
{
    struct RearmWindow window = {0};

    (void)state;
    RearmWindow_begin(&window, 10);
    for (int i = 0; i < 4; i++)
        RearmWindow_end(&window, 10);
    assert_int_equal(window.misses, 0); // not rarer, but with more callees
    assert_int_equal(window.reach, 4);
    for (int i = 0; i < 100; i++)
        RearmWindow_end(&window, 10);
    assert_int_equal(window.misses, 4);
    assert_int_equal(window.reach, 4);
    RearmWindow_end(&window, 20);
    assert_int_equal(window.misses, 0);
    assert_int_equal(window.reach, 4); // it has shown what it takes
}

// What is fixed takes a part of the allowance: 8 % slices, 5 % rankings, a
// quarter where new code comes fast or something is left over.
static void test_how_often(void **state)
{
    static const double rates[] = {1e-9, 0.0001, 0.001, 0.005, 0.01, 0.1, 1};

    (void)state;
    assert_float_equal(Policy_slice_pause(1), 0.2, 1e-9);
    assert_float_equal(Policy_slice_pause(0.005), 0.375, 1e-9);
    assert_float_equal(Policy_slice_pause(0.001), 1, 1e-9);
    assert_float_equal(Policy_rank_pause(0, 0.01), 1, 1e-9);
    assert_float_equal(Policy_rank_pause(0.001, 0.01), 3, 1e-9);
    assert_float_equal(Policy_rank_pause(0.001, 0.001), 10, 1e-9);
    assert_float_equal(Policy_burst_pause(1), 0.02, 1e-9);
    assert_float_equal(Policy_burst_pause(0.01), 0.06, 1e-9);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        assert_true(Policy_slice_pause(rates[i]) >= POLICY_SLICE_S);
        assert_true(Policy_slice_pause(rates[i]) <= POLICY_SLOWEST_S);
        // A second in there, for whatever reason, is no minute without any.
        assert_true(Policy_rank_pause(1, rates[i]) <= POLICY_RANK_MOST_S);
        assert_true(Policy_rank_pause(1e-3, rates[i]) >=
                    fmin(1e-3 / (0.05 * rates[i]), POLICY_RANK_MOST_S));
        assert_true(Policy_burst_pause(rates[i]) >= 0.02);
        assert_true(150e-6 / Policy_burst_pause(rates[i]) <=
                    0.25 * rates[i] * 1.000001);
    }
}

static void test_bursts(void **state)
{
    (void)state;
    assert_false(Policy_is_burst(0, 0));
    assert_false(Policy_is_burst(7, 0.001)); // few, however quick
    assert_true(Policy_is_burst(8, 0.2));
    assert_false(Policy_is_burst(8, 0.21));
    assert_true(Policy_is_burst(8, -1000)); // the counter has gone back
    assert_true(Policy_is_burst(1000, 25));
    assert_false(Policy_is_burst(1000, 26));
}

static void test_what_is_still_to_come(void **state)
{
    (void)state;
    assert_true(Policy_is_ahead(101, 100, 50));
    assert_false(Policy_is_ahead(100, 100, 50));
    assert_false(Policy_is_ahead(99, 100, 50));
    assert_true(Policy_is_ahead(150, 100, 50));
    assert_false(Policy_is_ahead(151, 100, 50)); // the counter has gone back
    assert_false(Policy_is_ahead(UINT64_MAX, 0, 50));
    assert_false(Policy_is_ahead(0, UINT64_MAX, 50));
}

static void test_the_most_urgent_first(void **state)
{
    struct Plan plan = {0};
    double before = INFINITY;

    (void)state;
    assert_null(Plan_pop(&plan));
    Plan_sort(&plan);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(
            Plan_add(&plan,
                     &(struct PlanItem){.id = i, .urgency = i * 7919 % 500}),
            0);
    Plan_sort(&plan);
    for (int i = 0; i < 1000; i++) {
        const struct PlanItem *item = Plan_pop(&plan);

        assert_true(item->urgency <= before);
        before = item->urgency;
    }
    assert_null(Plan_pop(&plan));
    Plan_clear(&plan);
    assert_null(Plan_pop(&plan));
    Plan_release(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_is_late_has_fewer_hits),
        cmocka_unit_test(test_nobody_is_older_than_half_a_minute),
        cmocka_unit_test(test_too_many_for_the_budget),
        cmocka_unit_test(test_a_phase_change),
        cmocka_unit_test(test_what_never_runs),
        cmocka_unit_test(test_a_huge_function),
        cmocka_unit_test(test_a_second_of_work_in_ten),
        cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_hits),
        cmocka_unit_test(test_hits_of_all),
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_a_window_without_a_timed_call),
        cmocka_unit_test(test_how_often),
        cmocka_unit_test(test_bursts),
        cmocka_unit_test(test_what_is_still_to_come),
        cmocka_unit_test(test_the_most_urgent_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
