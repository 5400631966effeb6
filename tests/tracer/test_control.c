// SPDX-License-Identifier: MIT
// tracer/control in virtual time, with the real budget, policy, survey and
// registry: a simulated program whose functions are called at known rates, and
// a governor that does what the control decides. What both cost goes into the
// next reading. An hour takes milliseconds.
#include "tracer/control.h"

#include "tests/tracer/make_code.h"
#include "tracer/registry.h"
#include "tracer/survey.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/between.h"
#define HZ 1e9     // ticks a second
#define CHUNK 0.05 // s that the program runs in one go
#define MOST 6000  // functions
// Wake-ups a second. A control that never decides on a full slice asks for ten
// times as many, and an hour of them takes longer than a test may.
#define MOST_WAKEUPS 100
// What things cost, s.
#define CALL_S 300e-9 // hooks of a call
#define ADOPT_S 10e-6 // new code
#define LOOK_S 30e-6  // a wake-up of the sampler
#define WAKE_S 15e-6  // a wake-up of the governor,
#define READ_S 20e-6  // of one that reads the account,
#define SLICE_S 40e-6 // of one with a slice,
#define RANK_S 50e-9  // of a ranking, for each function
#define FIXED 0.0001  // cores that the other threads take

struct Callable {
    struct Code *code;
    double rate;     // calls a second of the program's CPU time
    double left;     // hits until it is dark
    double seen_s;   // newest hit
    double oldest_s; // greatest age that a hit ended
    unsigned visits;
};

struct World {
    double now, begun_s;
    double jump;   // the governor's clock says so much more
    double back;   // the readings' says so much less
    double cpu;    // s that the program has used
    double call_s; // what the hooks of a call really cost
    double (*cores)(double t);
    struct BudgetReading spent;
    double looks; // of the sampler
    double hz;
    struct Budget budget;
    struct Control control;
    struct PolicyCosts costs;
    struct Plan plan;
    struct Registry *registry;
    struct Callable functions[MOST];
    size_t count;
    uint64_t first_hits, hits;
    size_t cut_next; // of a round of cuts,
    bool cutting;    // that is under way
    bool asked;
    double due; // of the next wake-up
    unsigned wakeups, accounts, slices, rankings, cuts, rates;
};

static struct World w;

static double one_core(double t)
{
    (void)t;
    return 1;
}

static double idle(double t)
{
    (void)t;
    return 0;
}

static double thousandth(double t)
{
    (void)t;
    return 0.001;
}

static double burst_s;

// That long in ten seconds, each time elsewhere between two slices.
static double bursts(double t)
{
    return fmod(t, 10.1) < burst_s ? 1 : 0;
}

static double clock_s(void)
{
    return w.now + w.jump;
}

static double ours(void)
{
    return w.spent.hooks + w.spent.rearm + w.spent.threads;
}

static void begin(double (*cores)(double), double share, uint64_t threshold)
{
    w = (struct World){.now = 1000,
                       .begun_s = 1000,
                       .cores = cores,
                       .hz = 100,
                       .call_s = CALL_S,
                       .first_hits = threshold,
                       .costs = Policy_costs(CALL_S, CALL_S / 2),
                       .registry = Registry_new()};
    w.spent.wall = w.now;
    Budget_init(&w.budget, share, &w.spent);
    Control_init(&w.control, threshold);
    w.due = w.now + Control_begin(&w.control, clock_s());
}

static int end(void **state)
{
    (void)state;
    Plan_release(&w.plan);
    Registry_free(w.registry);
    return 0;
}

// --- The program -------------------------------------------------------------

static void add(double rate)
{
    struct Callable *f = &w.functions[w.count++];
    uint32_t id = Registry_next_id(w.registry);

    assert_int_equal(id, w.count);
    f->code = make_code(id, 64 * (uintptr_t)id);
    f->code->unit_count = 150;
    f->code->jump_count = 2;
    Registry_add(w.registry, f->code);
    f->rate = rate;
    f->left = w.first_hits ? (double)w.first_hits : INFINITY;
    f->seen_s = w.now;
    w.spent.hooks += ADOPT_S;
}

static void add_many(size_t count, double rate)
{
    for (size_t i = 0; i < count; i++)
        add(rate);
}

// Calls that come while it is armed.
static void call(struct Callable *f, double count)
{
    double hits = fmin(count, f->left);

    if (!(hits > 0))
        return;
    f->oldest_s = fmax(f->oldest_s, w.now - f->seen_s);
    f->seen_s = w.now;
    f->left -= hits;
    w.hits += (uint64_t)ceil(hits);
    w.spent.hooks += hits * w.call_s;
    Cell_add(&f->code->calls, (uint64_t)ceil(hits));
    Cell_add(&f->code->self_calls, (uint64_t)ceil(hits));
    Cell_add(&f->code->self_cycles, (uint64_t)ceil(1000 * hits));
    Cell_set(&f->code->last_seen, (uint64_t)(w.now * HZ));
    if (f->left > 1e-9)
        return;
    f->left = 0;
    f->code->dark = true;
    w.spent.hooks += 4 * 60e-9;
}

static void run_program(double until)
{
    while (w.now < until) {
        double s = fmin(CHUNK, until - w.now), used = w.cores(w.now) * s;
        // It looks rarely while nothing runs.
        double looks = s * (used > 0 ? w.hz : fmin(w.hz, 8));

        w.now += s;
        w.cpu += used;
        w.looks += looks;
        w.spent.sampler += looks * LOOK_S;
        w.spent.threads += looks * LOOK_S + FIXED * s;
        for (size_t i = 0; i < w.count && used > 0; i++)
            if (w.functions[i].left > 0)
                call(&w.functions[i], w.functions[i].rate * used);
    }
}

// --- The governor, as python/governor.c --------------------------------------

static void read_clocks(void)
{
    struct BudgetReading reading = w.spent;

    reading.wall = w.now - w.back;
    reading.cpu = w.cpu + ours();
    reading.wakeups = (uint64_t)w.looks;
    Budget_read(&w.budget, &reading);
    w.spent.rearm += READ_S;
    w.accounts++;
}

static void rank(void)
{
    const struct Survey survey = {
        .registry = w.registry,
        .costs = w.costs,
        .ticks = (uint64_t)(w.now * HZ),
        .hz = HZ,
        .sampler_now = NAN,
        .rate = w.control.rate,
        .pressure = w.control.pressure,
        .behind = Plan_is_behind(&w.plan),
        .grant = w.control.grant,
    };
    double took = RANK_S * (double)w.count;

    w.rankings++;
    w.spent.rearm += took;
    if (w.control.held)
        assert_int_equal(Survey_plan(&survey, &w.plan), 0);
    Control_ranked(&w.control, clock_s(), took);
}

// true: the slice was too short for all that may be done.
static bool rearm(void)
{
    double slice = 0;

    while (w.control.grant > 0) {
        const struct PlanItem *item;
        struct Callable *f;
        double s;

        if (slice > SLICE_S)
            return Plan_is_behind(&w.plan);
        item = Plan_pop(&w.plan);
        if (!item)
            return false;
        f = &w.functions[item->id - 1];
        Control_spend(&w.control, item->seconds);
        s = w.costs.fixed + w.costs.byte * 2 * f->code->unit_count;
        slice += s;
        w.spent.rearm += s;
        f->code->dark = false;
        f->left = item->hits;
        f->visits++;
    }
    return false;
}

// true: there are more.
static bool cut(uint64_t to)
{
    for (int i = 0; i < 1000 && w.cutting; i++) {
        struct Callable *f = &w.functions[w.cut_next++];

        f->left = fmin(f->left, (double)to);
        w.cutting = w.cut_next < w.count;
    }
    return w.cutting;
}

static void wake_up(void)
{
    struct ControlReading reading = {
        .newest_code = Registry_newest_id(w.registry),
        .asked = w.asked,
        .cutting = w.cutting,
    };
    struct ControlDecision decision;
    bool more = false;
    double pause;

    w.wakeups++;
    assert_true(w.wakeups <= 10 + MOST_WAKEUPS * (w.now - w.begun_s));
    w.asked = false;
    w.spent.rearm += WAKE_S;
    if (Control_needs_account(&w.control, clock_s(), reading.newest_code)) {
        read_clocks();
        reading.budget = &w.budget;
    }
    decision = Control_step(&w.control, clock_s(), &reading);
    assert_true(decision.attend || !decision.full);
    assert_true(decision.sampler_hz >= 0 && decision.sampler_hz <= 500);
    w.first_hits = decision.first_hits;
    if (decision.cut_to) {
        w.cut_next = 0;
        w.cutting = w.count > 0;
        w.cuts++;
    }
    if (decision.sampler_hz > 0) {
        w.hz = decision.sampler_hz;
        w.rates++;
    }
    if (decision.rank)
        rank();
    if (decision.attend) {
        w.slices++;
        w.spent.rearm += SLICE_S;
        more = cut(w.control.cut_to);
        more |= rearm();
    }
    pause = Control_pause(&w.control, clock_s(), more);
    assert_true(pause >= 1e-3 && pause <= POLICY_SLOWEST_S);
    w.due = w.now + pause;
}

static void run(double seconds)
{
    double until = w.now + seconds;

    while (w.due <= until) {
        run_program(fmax(w.due, w.now));
        wake_up();
    }
    run_program(until);
}

// --- What was seen of it -----------------------------------------------------

// Over a stretch of time.
struct Stretch {
    double spent, cpu, wall;
    unsigned wakeups, slices, rankings;
};

static struct Stretch mark(void)
{
    return (struct Stretch){ours(),    w.cpu,    w.now,
                            w.wakeups, w.slices, w.rankings};
}

static double spent_since(const struct Stretch *then)
{
    return ours() - then->spent;
}

static double allowed_since(const struct Stretch *then)
{
    return fmax(w.budget.share * (w.cpu - then->cpu),
                BUDGET_LEAST * (w.now - then->wall));
}

// Of what is allowed.
static double part_since(const struct Stretch *then)
{
    return spent_since(then) / allowed_since(then);
}

static double wakeups_a_second(const struct Stretch *then)
{
    return (w.wakeups - then->wakeups) / (w.now - then->wall);
}

static double rankings_a_second(const struct Stretch *then)
{
    return (w.rankings - then->rankings) / (w.now - then->wall);
}

static void forget_ages(void)
{
    for (size_t i = 0; i < w.count; i++) {
        w.functions[i].oldest_s = 0;
        w.functions[i].visits = 0;
    }
}

// s, of all functions: ages that a hit has ended, and those of now.
static double oldest(void)
{
    double age = 0;

    for (size_t i = 0; i < w.count; i++)
        age = fmax(
            age, fmax(w.functions[i].oldest_s, w.now - w.functions[i].seen_s));
    return age;
}

static unsigned fewest_visits(void)
{
    unsigned fewest = UINT32_MAX;

    for (size_t i = 0; i < w.count; i++)
        if (w.functions[i].visits < fewest)
            fewest = w.functions[i].visits;
    return fewest;
}

// --- Programs ----------------------------------------------------------------

static void test_an_hour_of_steady_work(void **state)
{
    struct Stretch start;

    (void)state;
    begin(one_core, 0.01, 500);
    add_many(100, 1000);
    run(60);
    forget_ages();
    start = mark();
    for (int i = 0; i < 360; i++) {
        run(10);
        assert_true(Budget_window(&w.budget).measured < 0.01 * 1.05);
    }
    assert_true(part_since(&start) > 0.5 && part_since(&start) < 1);
    assert_true(oldest() < 20);
    assert_true(fewest_visits() > 180);
    assert_true(w.hz > 150);
    assert_true(wakeups_a_second(&start) < 8);
    assert_true(rankings_a_second(&start) > 0.8);
    assert_true(rankings_a_second(&start) < 1.01);
}

// More functions than the budget has room for: all intervals stretch, and none
// is left out.
static void test_nothing_starves(void **state)
{
    struct Stretch start;

    (void)state;
    begin(one_core, 0.002, 50);
    add_many(3000, 200);
    run(120);
    assert_true(fewest_visits() >= 1);
    forget_ages();
    start = mark();
    run(600);
    assert_true(part_since(&start) > 0.5 && part_since(&start) < 1);
    assert_true(oldest() < 100);
    assert_true(fewest_visits() >= 4);
    // A ranking takes 150 us: 5 % of the allowance.
    assert_true(rankings_a_second(&start) < 0.5);
}

// Hooks cost five times what is foreseen, or the fifth part: what counts is
// what they have cost.
static void test_costs_that_are_not_foreseen(void **state)
{
    static const double truths[] = {5 * CALL_S, CALL_S / 5};

    for (int i = 0; i < 2; i++) {
        struct Stretch start;

        begin(one_core, 0.005, 500);
        w.call_s = truths[i];
        add_many(1000, 1000);
        run(120);
        start = mark();
        run(600);
        assert_true(part_since(&start) > 0.6 && part_since(&start) < 0.95);
        assert_true(oldest() < 100);
        if (i == 0)
            end(state);
    }
}

// New code has ever fewer hits, what is armed for more is cut short, the clocks
// are read often meanwhile, and the debt is paid back.
static void test_a_storm_of_new_code(void **state)
{
    struct Stretch start;
    uint64_t least = 10000, hits;
    unsigned accounts, cuts;

    (void)state;
    begin(one_core, 0.01, 10000);
    add_many(100, 1000);
    run(60);
    assert_int_equal(w.first_hits, 10000);
    start = mark();
    hits = w.hits;
    accounts = w.accounts;
    cuts = w.cuts;
    for (int i = 0; i < 100; i++) {
        add_many(50, 400);
        run(0.01);
        least = w.first_hits < least ? w.first_hits : least;
    }
    assert_int_equal(least, 16);
    assert_between(w.accounts - accounts, 20, 60);
    assert_between(w.cuts - cuts, 2, 12);
    run(2);
    assert_true(w.budget.level < 0);
    assert_true(w.control.pressure > 0.1);
    assert_true(w.control.grant > 0); // in debt, too, something is armed again
    // What they would have had by now: 5 million.
    assert_between(w.hits - hits, 5000 * 16, 5000 * 120);
    assert_true(oldest() < 20);
    run(17);
    assert_true(w.budget.level > 0);
    assert_true(w.control.pressure == 0);
    assert_int_equal(w.first_hits, 10000); // whoever comes now
    run(300);
    assert_true(part_since(&start) < 1);
    assert_true(wakeups_a_second(&start) < 60);
}

// Looks in a burst; the burst is of so many s.
static double looks_in_bursts(double seconds)
{
    struct Stretch start;
    double looks = 0;

    burst_s = seconds;
    begin(bursts, 0.01, 500);
    add_many(100, 1000);
    run(60);
    forget_ages();
    start = mark();
    while (w.now < start.wall + 606) {
        double before = w.looks;

        run(CHUNK);
        looks += bursts(w.now) > 0 ? w.looks - before : 0;
    }
    assert_true(part_since(&start) > 0.35 && part_since(&start) < 1);
    assert_true(oldest() < 32); // two intervals, and the next burst
    assert_true(wakeups_a_second(&start) < 3);
    return looks / 60;
}

// That the program runs again is seen at the next slice, up to a second later:
// a burst of one second has hardly more than the floor, one of two has its
// sampler.
static void test_bursts(void **state)
{
    assert_true(looks_in_bursts(1) > 7); // 4 a second are the floor
    end(state);
    assert_true(looks_in_bursts(2) > 80);
}

// A thousandth of a core is used: a thousandth of a core may be spent.
static void test_who_hardly_works(void **state)
{
    struct Stretch start;

    (void)state;
    begin(thousandth, 0.01, 500);
    add_many(100, 1e6);
    run(60);
    forget_ages();
    start = mark();
    run(600);
    assert_true(spent_since(&start) < 0.001 * 600);
    assert_true(spent_since(&start) > 0.0005 * 600);
    assert_true(wakeups_a_second(&start) < 2);
    assert_true(w.hz < 15);
    assert_true(oldest() < 20);
}

// Nothing has run for long: nobody comes to look, and what comes then is seen
// at once.
static void test_who_does_nothing(void **state)
{
    struct Stretch start;

    (void)state;
    begin(one_core, 0.01, 500);
    add_many(100, 1000);
    run(60);
    w.cores = idle;
    run(1.5);
    assert_true(w.control.pace < 0.0011); // the rate is still 0.0025
    run(13);
    forget_ages();
    start = mark();
    run(600);
    assert_true(spent_since(&start) < 0.0005 * 600);
    assert_true(wakeups_a_second(&start) < 2);
    assert_true(fewest_visits() <= 1); // armed, it waits
    w.cores = one_core;
    run(2);
    assert_true(w.hz > 100);
    forget_ages(); // hits came
    assert_true(oldest() < 2);
}

// --- Changes -----------------------------------------------------------------

static void test_the_budget_is_changed(void **state)
{
    struct Stretch start;
    double before;

    (void)state;
    begin(one_core, 0.02, 500);
    add_many(500, 1000);
    run(60);
    before = w.hz;
    Budget_set(&w.budget, 0.002);
    run(1.2);
    assert_true(w.control.rate < 0.0021);
    assert_true(w.hz < before / 5);
    run(20);
    start = mark();
    run(120);
    assert_true(part_since(&start) > 0.5 && part_since(&start) < 1);
    Budget_set(&w.budget, 0.02);
    run(3);
    assert_true(w.hz > 5 * 0.002 * 0.4 / LOOK_S);
    start = mark();
    run(120);
    assert_true(part_since(&start) > 0.5 && part_since(&start) < 1);
    Budget_set(&w.budget, NAN);
    run(1.2);
    assert_false(w.control.held);
    assert_true(isinf(w.control.grant));
    Budget_set(&w.budget, 0.02);
    run(1.2);
    assert_true(w.control.held && isfinite(w.control.grant));
}

// The clocks of a reading say less than those of the one before, and sums, too:
// it counts for nothing, and what is to be had by then can be spent once.
static void test_a_reading_that_goes_back(void **state)
{
    struct Stretch start;
    double last;

    (void)state;
    begin(one_core, 0.01, 500);
    add_many(100, 1000);
    run(60);
    forget_ages();
    start = mark();
    last = w.budget.last.wall;
    w.back = 5;
    run(4);
    assert_true(w.budget.last.wall == last);
    assert_true(w.control.spent < 0.02);
    run(20);
    w.spent.hooks -= 0.01; // given back by a call that was not all work
    run(100);
    w.back = 0;
    run(100);
    assert_true(part_since(&start) > 0.5 && part_since(&start) < 1);
    assert_true(oldest() < 25);
}

// Of its own clock only differences of some seconds are of interest.
static void test_a_clock_that_jumps(void **state)
{
    static const double jumps[] = {3600, -3600, 1e9, -1e9, 0.5, -0.5, -1e5};

    (void)state;
    begin(one_core, 0.01, 500);
    add_many(100, 1000);
    run(60);
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
        struct Stretch start = mark();

        forget_ages();
        w.jump += jumps[i];
        run(40);
        assert_true(oldest() < 25);
        assert_true(fewest_visits() >= 1);
        assert_true(wakeups_a_second(&start) < 8);
        assert_true((w.slices - start.slices) / 40.0 > 2);
        assert_true(part_since(&start) < 1.1);
    }
}

// --- Without -----------------------------------------------------------------

// All is measured, nothing is held, and new code has its threshold.
static void test_without_a_budget(void **state)
{
    struct Stretch start;

    (void)state;
    begin(one_core, NAN, 500);
    add_many(2000, 1000);
    run(20);
    start = mark();
    add_many(2000, 1000);
    run(10);
    assert_int_equal(w.first_hits, 500);
    assert_int_equal(w.cuts, 0);
    assert_int_equal(w.rates, 0);
    assert_int_equal(fewest_visits(), 0); // what is dark stays dark
    assert_true(wakeups_a_second(&start) < 6);
    assert_true(w.budget.last.wall > w.now - 1);
}

// However much is owed. A round in search of what to cut, over and over, would
// be a hundred slices a second.
static void test_where_nothing_goes_dark(void **state)
{
    struct Stretch start;

    (void)state;
    begin(one_core, 0.001, 0);
    add_many(3000, 100);
    run(5);
    assert_true(w.budget.level < 0);
    start = mark();
    run(30);
    assert_int_equal(w.first_hits, 0);
    assert_int_equal(w.cuts, 0);
    assert_true(wakeups_a_second(&start) < 6);
}

// --- The parts ---------------------------------------------------------------

// It looks soon after it has begun, and again after a fork; then at intervals.
static void test_the_beginning(void **state)
{
    (void)state;
    begin(one_core, 0.01, 500);
    assert_true(fabs(w.due - w.now - 0.02) < 1e-9);
    run(0.1);
    assert_int_equal(w.slices, 0); // there is nothing to do yet
    assert_int_equal(w.wakeups, 1);
    run(0.15);
    assert_int_equal(w.slices, 1);
    w.now += 100; // a child is being made
    w.due = w.now + Control_begin(&w.control, clock_s());
    assert_true(fabs(w.due - w.now - 0.02) < 1e-9);
    run(0.1);
    assert_int_equal(w.slices, 1);
    run(0.15);
    assert_int_equal(w.slices, 2);
}

// Somebody waits: there is a slice for that at once, and no full one.
static void test_a_viewers_wish(void **state)
{
    double next = 0;
    unsigned accounts, slices;

    (void)state;
    begin(one_core, 0.01, 500);
    add_many(10, 1000);
    run(10);
    while (w.due - w.now < 0.1)
        run(0.01);
    accounts = w.accounts;
    slices = w.slices;
    assert_true(Control_may_wake(&next, clock_s()));
    w.asked = true;
    wake_up();
    assert_int_equal(w.slices, slices + 1);
    assert_int_equal(w.accounts, accounts);
    assert_true(w.due - w.now > 0.05); // the full one comes when it would have
    assert_false(Control_may_wake(&next, clock_s() + 0.049));
    assert_true(Control_may_wake(&next, clock_s() + 0.051));
    assert_true(Control_may_wake(&next, clock_s() - 3600)); // it has gone back
    assert_false(Control_may_wake(&next, clock_s() - 3600 + 0.01));
}

// It may take what is in the bucket at once, which others cannot; and then what
// comes in.
static void test_wishes_take_the_bucket(void **state)
{
    double level, taken = 0, before;

    (void)state;
    begin(one_core, 0.01, 500);
    add_many(10, 1000);
    run(30);
    level = w.budget.level;
    assert_true(level > 0.015);
    before = w.control.grant;
    for (; w.control.urgent > 0 && taken < 1; taken += 50e-6)
        Control_spend(&w.control, 50e-6);
    assert_true(fabs(taken - level - before) < 2e-3);
    w.spent.hooks += taken;
    assert_true(w.control.grant < 0);
    for (taken = 0, before = w.now; w.now < before + 5;) {
        run(0.1);
        for (; w.control.urgent > 0 && taken < 1; taken += 50e-6) {
            Control_spend(&w.control, 50e-6);
            w.spent.hooks += 50e-6;
        }
    }
    assert_true(taken < 5 * 0.01);
}

// What a slice leaves over comes 10 ms later, for as long as there is any.
static void test_what_is_left_over(void **state)
{
    struct ControlReading none = {0};
    struct ControlDecision decision;
    double now;

    (void)state;
    begin(one_core, 0.01, 500);
    run(10);
    now = w.due;
    w.now = now;
    wake_up();
    assert_true(Control_pause(&w.control, now, false) > 0.1);
    none.newest_code = Registry_newest_id(w.registry);
    assert_false(Control_step(&w.control, now + 0.01, &none).attend);
    assert_true(fabs(Control_pause(&w.control, now, true) - 0.01) < 1e-9);
    decision = Control_step(&w.control, now + 0.01, &none);
    assert_true(decision.attend && !decision.full);
    Control_pause(&w.control, now + 0.01, false);
    assert_false(Control_step(&w.control, now + 0.02, &none).attend);
    // Bytecode can wait where it would be on credit, or where nothing runs.
    w.control.grant = 1e-6;
    assert_true(Control_may_hurry(&w.control));
    w.control.grant = -1e-6;
    assert_false(Control_may_hurry(&w.control));
    w.control.grant = 1;
    w.control.cores = 0.001;
    assert_false(Control_may_hurry(&w.control));
}

// A cut that has not come to its end is not begun anew.
static void test_one_cut_at_a_time(void **state)
{
    struct ControlReading reading = {.budget = &w.budget};
    struct ControlDecision decision;

    (void)state;
    begin(one_core, 0.01, 10000);
    run(10);
    w.budget.level = -0.01; // a quarter of the hits
    decision = Control_step(&w.control, clock_s(), &reading);
    assert_int_equal(decision.cut_to, 2500);
    assert_true(decision.attend && !decision.full);
    w.budget.level = -0.012; // not half of that
    assert_int_equal(Control_step(&w.control, clock_s(), &reading).cut_to, 0);
    reading.cutting = true;
    w.budget.level = -0.03;
    assert_int_equal(Control_step(&w.control, clock_s(), &reading).cut_to, 0);
    reading.cutting = false;
    assert_int_equal(Control_step(&w.control, clock_s(), &reading).cut_to, 156);
    assert_int_equal(Control_step(&w.control, clock_s(), &reading).cut_to, 0);
    w.budget.level = 0; // it is paid: the next debt begins anew
    assert_int_equal(Control_step(&w.control, clock_s(), &reading).cut_to, 0);
    w.budget.level = -0.01;
    assert_int_equal(Control_step(&w.control, clock_s(), &reading).cut_to,
                     2500);
}

// The sampler is not told of each step.
static void test_small_changes_of_the_rate(void **state)
{
    (void)state;
    begin(one_core, 0.01, 500);
    add_many(100, 1000);
    run(60);
    w.rates = 0;
    run(60);
    assert_between(w.rates, 0, 20);
}

#define TEST(name) cmocka_unit_test_teardown(name, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_hour_of_steady_work),
        TEST(test_nothing_starves),
        TEST(test_costs_that_are_not_foreseen),
        TEST(test_a_storm_of_new_code),
        TEST(test_bursts),
        TEST(test_who_hardly_works),
        TEST(test_who_does_nothing),
        TEST(test_the_budget_is_changed),
        TEST(test_a_reading_that_goes_back),
        TEST(test_a_clock_that_jumps),
        TEST(test_without_a_budget),
        TEST(test_where_nothing_goes_dark),
        TEST(test_the_beginning),
        TEST(test_a_viewers_wish),
        TEST(test_wishes_take_the_bucket),
        TEST(test_what_is_left_over),
        TEST(test_one_cut_at_a_time),
        TEST(test_small_changes_of_the_rate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
