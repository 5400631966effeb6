// SPDX-License-Identifier: MIT
// tracer/budget/control in virtual time, with the real budget, policy, survey
// and registry: a simulated program whose functions are called at known rates,
// and a governor that does what the control decides. What both cost goes into
// the next reading. An hour takes milliseconds.
#include "tracer/budget/control.h"

#include "tests/sanitizers.h"
#include "tests/tracer/make_code.h"
#include "tracer/budget/survey.h"
#include "tracer/code/registry.h"

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
#define CALL_LENGTH_S 1e-6 // a call itself: rates are of 1e6 a second at most
#define CALL_S 300e-9      // hooks of a call
#define ADOPT_S 10e-6      // new code
#define SAMPLE_S 30e-6     // a sample, where system calls are slow
#define WAKE_S 15e-6       // a wake-up of the governor,
#define READ_S 20e-6       // of one that reads the account,
#define SLICE_S 40e-6      // of one with a slice,
#define RANK_S 50e-9       // of a ranking, for each function

struct Callable {
    struct Code *code;
    double rate;     // calls a second of the program's CPU time
    double left;     // hits until it is dark, or has more
    double since_s;  // when it was given a second's
    double more;     // of those, that it has not got yet
    double seen_s;   // newest hit
    double oldest_s; // greatest age that a hit ended
    double armed_s;
    unsigned rearms, darkened;
};

struct World {
    double now, begun_s;
    double jump; // the governor's clock says so much more
    double back; // the readings' says so much less
    double cpu;  // s that the program has used
    double (*cores)(double t);
    double fixed; // cores that the other threads take
    struct BudgetReading spent;
    double samples;
    double hz;
    struct Budget budget;
    struct Control control;
    struct PolicyCosts costs;
    struct Plan plan;
    struct Registry *registry;
    struct Callable functions[MOST];
    size_t count;
    uint64_t first_hits, hits;
    bool arm_new;
    uint64_t second_hits;
    uint32_t active;
    double ranked_s;
    struct ShareClock sampled;
    bool asked;
    double due; // of the next wake-up
    unsigned wakeups, accounts, slices, rankings, rates;
};

static struct World w;

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

static double idle(double t)
{
    (void)t;
    return 0;
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
                       .fixed = 0.0001,
                       .hz = 100,
                       .first_hits = threshold,
                       .arm_new = true,
                       .costs = {CALL_S, CALL_S / 2},
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

// As Code_give.
static void give(struct Callable *f, double hits)
{
    f->left = fmin(hits, 64);
    f->more = hits - f->left;
}

static void add(double rate)
{
    struct Callable *f = &w.functions[w.count++];
    uint32_t id = Registry_next_id(w.registry);

    assert_int_equal(id, w.count);
    f->code = make_code(id, 64 * (uintptr_t)id);
    f->code->layout.unit_count = 150;
    f->code->layout.jump_count = 2;
    Registry_add(w.registry, f->code);
    f->rate = rate;
    f->left = w.first_hits ? (double)w.first_hits : INFINITY;
    f->seen_s = w.now;
    if (w.second_hits)
        give(f, f->left);
    if (!w.arm_new) // its second call comes at once
        f->left = 0,
        f->code->cold.unarmed = f->code->cold.again = f->code->hot.dark = true;
    Counter_set(&f->code->hot.calls, 1);
    Counter_set(&f->code->hot.last_seen, (uint64_t)(w.now * HZ));
    w.spent.hooks += ADOPT_S;
}

static void add_many(size_t count, double rate)
{
    for (size_t i = 0; i < count; i++)
        add(rate);
}

// As Code_renew.
static bool renew(struct Callable *f)
{
    double hits = (double)w.second_hits;

    if (hits > 0 && w.now - f->since_s >= 1) {
        f->since_s = w.now;
        give(f, hits);
    } else {
        give(f, fmin(f->more, hits));
    }
    return f->left > 0;
}

// Calls that come while it is armed, and how many that are.
static double call(struct Callable *f, double count)
{
    double hits = fmin(count, f->left);

    if (!(hits > 0))
        return 0;
    f->oldest_s = fmax(f->oldest_s, w.now - f->seen_s);
    f->seen_s = w.now;
    f->left -= hits;
    w.hits += (uint64_t)ceil(hits);
    w.spent.hooks += hits * CALL_S;
    Counter_add(&f->code->hot.calls, (uint64_t)ceil(hits));
    Counter_add(&f->code->hot.self_calls, (uint64_t)ceil(hits));
    Counter_add(&f->code->hot.self_cycles, (uint64_t)ceil(1000 * hits));
    Counter_set(&f->code->hot.last_seen, (uint64_t)(w.now * HZ));
    if (f->left > 1e-9)
        return hits;
    if (renew(f))
        return hits + call(f, count - hits);
    f->left = 0;
    f->code->hot.dark = true;
    f->darkened++;
    w.spent.hooks += 4 * 60e-9;
    return hits;
}

// What samples say of it, on the whole.
static void credit(double s, double used)
{
    struct ShareTime now;
    struct ShareCredit credit;

    ShareClock_advance(&w.sampled, s * 1e9, used * w.hz);
    now = ShareClock_now(&w.sampled);
    for (size_t i = 0; i < w.count && used > 0; i++) {
        struct Callable *f = &w.functions[i];

        ShareCredit_init(&credit, &now, f->rate * used * CALL_LENGTH_S * 1e9);
        ShareValue_credit(&f->code->share.cpu, &credit);
        Counter_set(&f->code->share.run_samples, 1);
    }
}

static void run_program(double until)
{
    while (w.now < until) {
        double s = fmin(CHUNK, until - w.now), used = w.cores(w.now) * s;
        double samples = used * w.hz;

        w.now += s;
        w.cpu += used;
        w.samples += samples;
        w.spent.sampling += samples * SAMPLE_S;
        w.spent.threads += samples * SAMPLE_S + w.fixed * s;
        for (size_t i = 0; i < w.count; i++) {
            struct Callable *f = &w.functions[i];
            double count = f->rate * used;

            if (f->left > 0 && used > 0)
                f->armed_s += s * call(f, count) / count;
            else if (f->left > 0)
                f->armed_s += s;
        }
        credit(s, used);
    }
}

// --- The governor, as python/service/governor.c ----------------------------

static void read_clocks(void)
{
    struct BudgetReading reading = w.spent;

    reading.wall = w.now - w.back;
    reading.cpu = w.cpu + ours();
    reading.samples = (uint64_t)w.samples;
    Budget_read(&w.budget, &reading);
    w.spent.rearm += READ_S;
    w.accounts++;
}

static void rank(void)
{
    const struct ShareTime sampled = ShareClock_now(&w.sampled);
    const struct Survey survey = {
        .registry = w.registry,
        .costs = w.costs,
        .ticks = (uint64_t)(w.now * HZ),
        .hz = HZ,
        .sampled = &sampled,
        .rate = w.control.rate,
        .pressure = w.control.pressure,
        .behind = Plan_is_behind(&w.plan),
        .second_hits = w.control.hits,
        .room = w.control.room,
    };
    double took = RANK_S * (double)w.count;

    w.active = 0;
    for (size_t i = 0; i < w.count && w.rankings; i++)
        w.active += w.functions[i].seen_s >= w.ranked_s;
    w.ranked_s = w.now;
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

    while (w.control.available > 0) {
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
        s = 1e-6 + 5e-9 * 2 * f->code->layout.unit_count;
        slice += s;
        w.spent.rearm += s;
        if (f->left > 0)
            continue;
        f->code->hot.dark = f->code->cold.unarmed = false;
        f->since_s = w.now;
        give(f, item->steady_s > 0
                    ? fmax((double)w.second_hits, item->hits)
                    : fmin(item->hits, (double)w.control.threshold));
        f->rearms++;
    }
    return false;
}

static void wake_up(void)
{
    struct ControlReading reading = {
        .newest_code = Registry_newest_id(w.registry),
        .asked = w.asked,
        .call_s = w.costs.call,
        .active = w.active,
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
    assert_true(decision.sampler_hz >= 0 && decision.sampler_hz <= 250);
    w.first_hits = decision.first_hits;
    w.arm_new = decision.arm_new;
    w.second_hits = decision.hits;
    if (decision.sampler_hz > 0) {
        w.hz = decision.sampler_hz;
        w.rates++;
    }
    if (decision.rank)
        rank();
    if (decision.attend) {
        w.slices++;
        w.spent.rearm += SLICE_S;
        more = rearm();
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
                w.budget.share * BUDGET_CORES * (w.now - then->wall));
}

// Of what is allowed.
static double part_since(const struct Stretch *then)
{
    return spent_since(then) / allowed_since(then);
}

// Over the last ten seconds, to within a tenth.
static bool is_held(void)
{
    struct BudgetShares shares = Budget_window(&w.budget);

    return shares.measured < 1.1 * shares.allowed;
}

static double wakeups_a_second(const struct Stretch *then)
{
    return (w.wakeups - then->wakeups) / (w.now - then->wall);
}

static void forget(void)
{
    for (size_t i = 0; i < w.count; i++) {
        w.functions[i].oldest_s = w.functions[i].armed_s = 0;
        w.functions[i].darkened = 0;
        w.functions[i].rearms = 0;
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

static unsigned all_rearms(void)
{
    unsigned count = 0;

    for (size_t i = 0; i < w.count; i++)
        count += w.functions[i].rearms;
    return count;
}

static unsigned fewest_rearms(void)
{
    unsigned fewest = UINT32_MAX;

    for (size_t i = 0; i < w.count; i++)
        if (w.functions[i].rearms < fewest)
            fewest = w.functions[i].rearms;
    return fewest;
}

// A minute of so many functions, and what comes after is looked at.
static struct Stretch settle(double (*cores)(double), double share,
                             size_t count, double rate)
{
    begin(cores, share, 500);
    add_many(count, rate);
    run(60);
    forget();
    return mark();
}

// --- Programs ----------------------------------------------------------------

static void test_an_hour_of_steady_work(void **state)
{
    const int tens = FEWER_ROUNDS(360); // of seconds
    struct Stretch start;
    double samples;

    (void)state;
    start = settle(one_core, 0.01, 100, 1000);
    samples = w.samples;
    w.rates = 0;
    for (int i = 0; i < tens; i++) {
        run(10);
        assert_true(is_held());
    }
    assert_true(w.rates < w.slices / 2); // a new rate is not set in each step
    // The sampler has its part: 40 % of 10 ms a second at 30 us are 133.
    assert_true((w.samples - samples) / (w.cpu - start.cpu) > 120);
    assert_true(part_since(&start) > 0.5 && part_since(&start) < 1);
    assert_true(oldest() < 20);
    assert_true(wakeups_a_second(&start) < 8);
    assert_between(w.rankings - start.rankings, 8 * tens, 10.1 * tens);
}

// Of a server at a tenth of a core nothing that is called now and then goes
// dark in an hour, beside two functions that are called all the time.
static void test_the_calm_stay_armed(void **state)
{
    const int seconds = FEWER_ROUNDS(3600);
    struct Stretch start;

    (void)state;
    begin(tenth, 0.01, 500);
    add_many(2, 300000); // 30 000 a second of time
    add_many(50, 200);
    run(60);
    forget();
    start = mark();
    for (int i = 0; i < seconds; i++) {
        run(1);
        assert_true(is_held());
    }
    assert_true(part_since(&start) < 1);
    for (size_t i = 0; i < w.count; i++)
        if (i < 2)
            assert_true(w.functions[i].armed_s < seconds / 100);
        else
            assert_int_equal(w.functions[i].darkened, 0);
}

static double busy_then_fifth(double t)
{
    return t < 1033 && t >= 1030 ? 1 : 0.2;
}

// An event loop at a fifth of a core: its own functions run 300 times a second,
// its jobs 30 to 90 times, and one of those calls another function all the
// time. The other threads take half of the budget, and half a minute after the
// start all is called fifty times as often for three seconds. Some seconds
// later the jobs are armed again, and stay so.
static void test_an_event_loop(void **state)
{
    (void)state;
    begin(busy_then_fifth, 0.01, 500);
    w.fixed = 0.0009;
    add_many(1, 300000);
    add_many(25, 1500);
    for (double rate = 150; rate <= 450; rate += 75)
        add(rate);
    run(30);
    for (size_t i = 0; i < w.count; i++)
        w.functions[i].rate *= 10;
    run(3);
    for (size_t i = 0; i < w.count; i++)
        w.functions[i].rate /= 10;
    run(10);
    forget();
    run(20);
    for (size_t i = w.count - 5; i < w.count; i++)
        assert_int_equal(w.functions[i].darkened, 0);
    assert_true(w.functions[w.count - 1].armed_s > 19.9);
    assert_true(w.functions[0].armed_s < 0.5);
    assert_true(is_held());
}

// Of functions that are called twice as often each, those below a limit stay
// armed, and above it the hottest are dark the longest.
static void test_the_hottest_go_dark_first(void **state)
{
    (void)state;
    begin(one_core, 0.01, 500);
    for (double rate = 1; rate < 300000; rate *= 2)
        add(rate);
    run(60);
    forget();
    run(120);
    for (size_t i = 1; i < w.count; i++)
        assert_true(w.functions[i].armed_s <= 1.2 * w.functions[i - 1].armed_s);
    assert_int_equal(w.functions[8].darkened, 0); // 256 a second
    assert_true(w.functions[w.count - 1].armed_s < 2);
}

// What was calm is hot all at once: that is paid within seconds, and what is
// calm then stays armed.
static void test_a_change_of_phase(void **state)
{
    struct Stretch start;

    (void)state;
    begin(one_core, 0.01, 500);
    add_many(200, 20);
    add_many(10, 20000);
    run(60);
    forget();
    start = mark();
    for (size_t i = 0; i < w.count; i++)
        if (i < 100 || i >= 200)
            w.functions[i].rate = i < 100 ? 5000 : 20;
    run(1);
    assert_true(w.budget.level < 0);
    assert_false(w.arm_new);
    run(7);
    assert_true(w.budget.level > 0);
    assert_true(w.arm_new);
    run(22);
    assert_true(part_since(&start) < 1);
    for (size_t i = 100; i < 200; i++)
        assert_int_equal(w.functions[i].darkened, 0);
}

static void test_two_thousand_functions(void **state)
{
    struct Stretch start;

    (void)state;
    begin(one_core, 0.01, 500);
    for (int i = 1; i <= 2000; i++)
        add(100000.0 / i);
    run(60);
    forget();
    start = mark();
    for (int i = 0; i < 120; i++) {
        run(1);
        assert_true(is_held());
    }
    assert_true(part_since(&start) > 0.5 && part_since(&start) < 1);
    assert_true(oldest() < 30);
}

// More functions than the budget has room for: all intervals stretch, and none
// is left out.
static void test_nothing_starves(void **state)
{
    struct Stretch start;

    (void)state;
    begin(one_core, 0.002, 50);
    if (UNDER_ASAN) // the same code as in the others, for long
        skip();
    add_many(3000, 200);
    run(120);
    assert_true(fewest_rearms() >= 1);
    forget();
    start = mark();
    run(600);
    assert_true(part_since(&start) > 0.5 && part_since(&start) < 1);
    assert_true(oldest() < 100);
    assert_true(fewest_rearms() >= 4);
    // A ranking takes 150 us: 5 % of the allowance.
    assert_true(w.rankings - start.rankings < 0.5 * 600);
}

// New code has ever fewer hits, then is put off; the clocks are read often
// meanwhile, and the debt is paid back.
static void test_a_storm_of_new_code(void **state)
{
    struct Stretch start;
    uint64_t least = 500, hits;
    unsigned accounts, put_off = 0;

    (void)state;
    settle(one_core, 0.01, 100, 1000);
    if (UNDER_ASAN) // the same code as in the others, for long
        skip();
    assert_int_equal(w.first_hits, 500);
    start = mark();
    hits = w.hits;
    accounts = w.accounts;
    for (int i = 0; i < 100; i++) {
        put_off += w.arm_new ? 0 : 50;
        add_many(50, 400);
        run(0.01);
        least = w.first_hits < least ? w.first_hits : least;
    }
    assert_int_equal(least, 16);
    assert_true(put_off > 2500);
    assert_between(w.accounts - accounts, 20, 80);
    run(2);
    assert_true(w.budget.level < 0);
    assert_true(w.control.pressure > 0.1);
    // In debt, too, something is armed again.
    assert_true(w.control.available > 0);
    // What they would have had by now: 5 million.
    assert_true(w.hits - hits < 5000 * 50);
    run(10);
    assert_true(w.budget.level > 0);
    assert_true(w.control.pressure == 0);
    run(40); // all have been armed by now, and what comes has its hits
    assert_true(fewest_rearms() >= 1);
    run(300);
    assert_true(part_since(&start) < 1);
    assert_true(wakeups_a_second(&start) < 60);
}

// Samples in a burst; the burst is of so many s.
static double samples_in_bursts(double seconds)
{
    struct Stretch start;
    double samples = 0;

    burst_s = seconds;
    start = settle(bursts, 0.01, 100, 1000);
    while (w.now < start.wall + 606) {
        double before = w.samples;

        run(CHUNK);
        samples += bursts(w.now) > 0 ? w.samples - before : 0;
    }
    assert_true(part_since(&start) < 1);
    assert_true(oldest() < 32); // two intervals, and the next burst
    assert_true(wakeups_a_second(&start) < 3);
    return samples / 60;
}

// Samples come with the CPU time: a short burst has them from its beginning.
static void test_bursts(void **state)
{
    assert_true(samples_in_bursts(0.2) > 15); // the floor would be 2
    end(state);
    // An empty bucket would pay for 67 a second.
    assert_true(samples_in_bursts(2) > 150);
}

// Nothing has run for long: nobody comes to look, and what comes then is seen
// at once.
static void test_who_does_nothing(void **state)
{
    struct Stretch start;

    (void)state;
    settle(one_core, 0.01, 100, 1000);
    w.cores = idle;
    run(1.5);
    assert_true(w.control.refill_rate == 0.01 * BUDGET_CORES);
    // The rate over two seconds is still more.
    assert_true(w.control.rate > 2 * w.control.refill_rate);
    run(13);
    forget();
    start = mark();
    run(600);
    assert_true(spent_since(&start) < 0.0005 * 600);
    assert_true(wakeups_a_second(&start) < 2);
    assert_true(fewest_rearms() <= 1); // armed, it waits
    w.cores = one_core;
    run(2);
    assert_true(w.budget.level > -3 * w.budget.rate);
    forget(); // hits came
    assert_true(oldest() < 2);
    run(8); // all of them at once, and that is paid
    assert_true(w.budget.level > 0);
    assert_true(w.hz > 100);
}

// --- Changes -----------------------------------------------------------------

// The clocks of a reading say less than those of the one before, and sums, too:
// it counts for nothing, and what is to be had by then can be spent once.
static void test_a_reading_that_goes_back(void **state)
{
    struct Stretch start;
    double last;

    (void)state;
    start = settle(one_core, 0.01, 100, 1000);
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
    settle(one_core, 0.01, 100, 1000);
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
        struct Stretch start = mark();

        forget();
        w.jump += jumps[i];
        run(40);
        assert_true(oldest() < 25);
        assert_true(all_rearms() > 100);
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
    assert_int_equal(w.second_hits, 0);
    assert_int_equal(w.rates, 0);
    assert_int_equal(fewest_rearms(), 0); // what is dark stays dark
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
    assert_int_equal(w.second_hits, 0);
    assert_true(wakeups_a_second(&start) < 6);
}

// --- The parts ---------------------------------------------------------------

// It wakes up soon after it has begun, and again after a fork; then at
// intervals.
static void test_the_beginning(void **state)
{
    (void)state;
    begin(one_core, 0.01, 0);
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
    assert_true(fabs(Control_pause(&w.control, now, true) -
                     Policy_burst_pause(w.control.rate)) < 1e-9);
    decision = Control_step(&w.control, now + 0.01, &none);
    assert_true(decision.attend && !decision.full);
    Control_pause(&w.control, now + 0.01, false);
    assert_false(Control_step(&w.control, now + 0.02, &none).attend);
    // Bytecode can wait where it would be on credit, or where nothing runs.
    w.control.overdrawn = false;
    w.control.available = 1e-6;
    assert_true(Control_may_hurry(&w.control));
    w.control.available = -1e-6;
    assert_false(Control_may_hurry(&w.control));
    w.control.available = 1;
    assert_true(Control_may_hurry(&w.control));
    w.control.overdrawn = true;
    assert_false(Control_may_hurry(&w.control));
    w.control.overdrawn = false;
    w.control.cores = 0.001;
    assert_false(Control_may_hurry(&w.control));
}

// What is armed may have more than the threshold where there is room, new code
// may not; in debt both have the least.
static void test_hits_of_what_is_armed_and_of_what_is_new(void **state)
{
    struct ControlReading reading = {.budget = &w.budget, .call_s = CALL_S};
    struct ControlDecision decision;

    (void)state;
    begin(one_core, 0.01, 500);
    add_many(5, 1000);
    run(10);
    read_clocks();
    decision = Control_step(&w.control, clock_s(), &reading);
    assert_true(decision.hits > 500);
    assert_int_equal(decision.first_hits, 500);
    assert_true(decision.arm_new);
    w.budget.level = -0.04;
    reading.active = 1000;
    for (int i = 0; i < 12; i++) // it halves at most
        decision = Control_step(&w.control, clock_s(), &reading);
    assert_int_equal(decision.hits, 16);
    assert_int_equal(decision.first_hits, 16);
    assert_false(decision.arm_new);
}

#define TEST(name) cmocka_unit_test_teardown(name, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_hour_of_steady_work),
        TEST(test_the_calm_stay_armed),
        TEST(test_an_event_loop),
        TEST(test_the_hottest_go_dark_first),
        TEST(test_a_change_of_phase),
        TEST(test_two_thousand_functions),
        TEST(test_nothing_starves),
        TEST(test_a_storm_of_new_code),
        TEST(test_bursts),
        TEST(test_who_does_nothing),
        TEST(test_a_reading_that_goes_back),
        TEST(test_a_clock_that_jumps),
        TEST(test_without_a_budget),
        TEST(test_where_nothing_goes_dark),
        TEST(test_the_beginning),
        TEST(test_a_viewers_wish),
        TEST(test_what_is_left_over),
        TEST(test_hits_of_what_is_armed_and_of_what_is_new),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
