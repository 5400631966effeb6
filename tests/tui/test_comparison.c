// SPDX-License-Identifier: MIT
// Compares made-up runs. In two equal runs, differences of more than two
// standard errors must be as rare as chance allows. If a function has changed,
// the comparison must find it.
#include "tui/model/comparison.h"

#include "tests/random.h"
#include "tui/model/run_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit.h"

#define FUNCTIONS 20
#define SECONDS 10.0

static double below_one(void)
{
    return (double)(random_u64() >> 11) / (double)(UINT64_C(1) << 53);
}

static double normal(void)
{
    return sqrt(-2 * log(1 - below_one())) * cos(2 * M_PI * below_one());
}

// Describes a run of the functions f0 to f19. The samples and the speed of the
// machine are random.
struct Request {
    unsigned samples;
    double slower; // Factor by which f3 is slower.
    bool dark;     // True if numbers of calls are unknown.
    double hz;
    double seconds;
    const char *folder;
    // Settings of the trace. A run without a version has no settings.
    const char *version, *mode;
    uint64_t threshold;
    double budget;
    const char *exclude[3], *include_only[3];
    // Waits of f5 by their kind, and the number of waits.
    double waits[WAIT_KINDS];
    unsigned observed;
};

static double cost_of(unsigned i, const struct Request *request)
{
    return (1.0 / (i + 3)) * (i == 3 ? request->slower : 1);
}

static const struct FilterRule *
rules_of(struct Snapshot *s, const char *const *texts, size_t *count)
{
    struct FilterRule *rules = Snapshot_alloc(s, 3 * sizeof *rules);
    for (*count = 0; *count < 3 && texts[*count]; ++*count)
        rules[*count].text = texts[*count];
    return rules;
}

static void set_waits(struct Snapshot *s, struct Function *f,
                      const struct Request *request)
{
    struct WaitShares *waits = Snapshot_alloc(s, sizeof *waits);
    f->wait_share = request->observed ? 0 : NAN;
    f->samples = f->run_samples;
    if (f->id != 6 || !request->observed)
        return;
    f->samples += request->observed;
    memcpy(waits->of, request->waits, sizeof waits->of);
    for (int i = 0; i < WAIT_KINDS; i++)
        f->wait_share += waits->of[i];
    f->waits = waits;
    f->wait_count = 1;
}

static struct Snapshot *run(const struct Request *request)
{
    struct Snapshot *s = Snapshot_new();
    struct Function *functions =
        Snapshot_alloc(s, FUNCTIONS * sizeof *functions);
    double pace = exp(.2 * normal()), all = 0;
    unsigned counts[FUNCTIONS] = {0};
    char text[64];
    for (unsigned i = 0; i < FUNCTIONS; i++)
        all += cost_of(i, request);
    for (unsigned k = 0; k < request->samples; k++) {
        double at = below_one() * all;
        unsigned i = 0;
        while (i < FUNCTIONS - 1 && at >= cost_of(i, request))
            at -= cost_of(i++, request);
        counts[i]++;
    }
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        struct Function *f = &functions[i];
        snprintf(text, sizeof text, "f%u", i);
        f->id = i + 1;
        f->name = Snapshot_text(s, text);
        snprintf(text, sizeof text, "%s/app.py",
                 request->folder ? request->folder : "/srv");
        f->file = Snapshot_text(s, text);
        f->line = 10 * i;
        f->run_samples = counts[i];
        f->cpu_share = f->share = .8 * counts[i] / request->samples;
        f->calls = (uint64_t)(1e5 * (i + 1) * request->seconds / pace / all);
        f->calls_exact = !request->dark;
        f->calls_estimated = request->dark ? NAN : (double)f->calls;
        f->calls_error = NAN;
        set_waits(s, f, request);
    }
    s->functions = functions;
    s->function_count = FUNCTIONS;
    s->sampler_samples = request->samples;
    s->sampler_window_s = request->seconds;
    s->sampler_elsewhere = 0;
    s->command = "app.py";
    s->python = "CPython 3.13.0";
    s->tsc_hz = request->hz;
    s->version = request->version;
    s->mode = request->mode;
    s->threshold = request->threshold;
    s->overhead_budget = request->budget;
    s->filter_exclude = rules_of(s, request->exclude, &s->filter_exclude_count);
    s->filter_include_only =
        rules_of(s, request->include_only, &s->filter_include_only_count);
    return s;
}

static const struct Request PLAIN = {
    .samples = 2500, .slower = 1, .hz = 2e9, .seconds = SECONDS};

// Adds the numbers of the whole program and the latencies of f4. All of these
// are `worse` times as large as in an ordinary run. About half of f3's calls
// take 2 ms, and the others 20 ms. Two lambdas take different times.
static void add_numbers(struct Snapshot *s, double worse)
{
    static struct ExceptionRow exceptions[2];
    static struct LoopRow loops[2];
    static struct ObjectRow objects[2][2];
    int i = worse != 1;
    struct Function *f = (struct Function *)&s->functions[4];
    s->uptime_s = SECONDS * worse;
    s->totals_s = SECONDS;
    s->gil_held = .5;
    s->gil_waited = .1 * worse;
    s->gc_share = .02 * worse;
    s->stalls_total = (uint64_t)(50 * worse);
    s->exception_totals_raised = (uint64_t)(400 * worse);
    exceptions[i] = (struct ExceptionRow){
        .type = "KeyError", .raised = s->exception_totals_raised, .error = NAN};
    s->exceptions = &exceptions[i];
    s->exception_count = 1;
    // A type that did not grow before has no row in the first run.
    objects[i][0] = (struct ObjectRow){
        .type = "Row", .grows = 1, .net_per_s = 10 * worse, .net_error = 1};
    objects[i][1] = (struct ObjectRow){
        .type = "Leak", .grows = worse > 2, .net_per_s = worse, .net_error = 1};
    s->objects_types = objects[i];
    s->objects_type_count = 1 + (size_t)i;
    loops[i] = (struct LoopRow){
        .thread = "MainThread", .lag_s = 2e-3 * worse, .timers = 1000};
    s->loops = &loops[i];
    s->loop_count = 1;
    f->calls = 1000;
    f->wall_p50_s = .02 * worse;
    f->wall_p99_s = .05 * worse;
    for (int k = -1; k < 3; k += k < 0 ? 2 : 1) {
        if (k > 0)
            f[k].name = "<lambda>";
        f[k].calls = 1000;
        f[k].wall_p50_s = (k == 2) == i ? .002 : .02;
        f[k].wall_p99_s = k > 0 ? f[k].wall_p50_s : i ? .0201 : .0202;
    }
}

static struct Comparison comparison;

static void release(void)
{
    Comparison_release(&comparison);
    comparison = (struct Comparison){0};
}

// Compares two snapshots, which are freed.
static void compare_snapshots(struct Snapshot *one, struct Snapshot *two)
{
    release();
    assert_int_equal(Comparison_make(&comparison, one, two), 0);
    Snapshot_free(one);
    Snapshot_free(two);
}

// Returns how many numbers differ, if those of the second run are `worse` times
// as large.
static unsigned count_numbers(double worse, double limit_s, char *text,
                              size_t size)
{
    struct Snapshot *one = run(&PLAIN), *two = run(&PLAIN);
    unsigned apart = 0;
    add_numbers(one, 1);
    add_numbers(two, worse);
    one->stall_limit_s = .1;
    two->stall_limit_s = limit_s;
    compare_snapshots(one, two);
    assert_int_equal(comparison.number_count,
                     (limit_s > .2 ? 9 : 10) + (worse > 2 ? 2 : 1));
    for (size_t i = 0; i < comparison.number_count; i++) {
        size_t used = strlen(text);
        if (!comparison.numbers[i].measured.apart)
            continue;
        apart++;
        RunNumbers_text(&comparison.numbers[i], text + used, size - used);
    }
    return apart;
}

static void compare(const struct Request *a, const struct Request *b)
{
    compare_snapshots(run(a), run(b));
    assert_int_equal(comparison.function_count, FUNCTIONS);
}

static const struct ComparedFunction *function(const char *name)
{
    for (size_t i = 0; i < comparison.function_count; i++)
        if (!strcmp(comparison.functions[i].name, name))
            return &comparison.functions[i];
    fail_msg("no %s", name);
    return NULL;
}

static void check_settings(const struct Request *a, const struct Request *b,
                           const char *words)
{
    static const char start[] =
        "They were traced with different settings, so "
        "counts and times may differ for this reason: ";
    compare(a, b);
    const char *text = comparison.notes[0].text;
    assert_int_equal(strncmp(text, start, sizeof start - 1) == 0,
                     *words != '\0');
    if (*words)
        assert_string_equal(text + sizeof start - 1, words);
}

TEST_WITH(settings_that_differ, NULL, release)
{
    struct Request one = PLAIN, two;
    one.version = "0.1.0";
    one.mode = "adaptive";
    one.threshold = 500;
    one.budget = NAN;
    one.exclude[0] = "numpy";
    one.exclude[1] = "torch";
    two = one;
    // The order of the filter's rules does not matter.
    two.exclude[0] = "torch";
    two.exclude[1] = "numpy";
    check_settings(&one, &two, "");
    two.threshold = 0;
    check_settings(&one, &two, "threshold 500 and 0.");
    two.budget = .015;
    two.exclude[2] = "app";
    two.include_only[0] = "srv";
    check_settings(&one, &two,
                   "threshold 500 and 0, budget none and 1.5%, exclude app "
                   "only in the second, include only srv only in the second.");
    // An older recording has only two of the settings.
    two.version = NULL;
    two.mode = "precise";
    check_settings(&one, &two,
                   "mode adaptive and precise, threshold 500 and "
                   "0.");
}

TEST_WITH(numbers_of_the_whole_run, NULL, release)
{
    static const char *const words[] = {
        "P50 of f4: 20ms and then 60ms (two standard errors: ",
        "P99 of f4: 50ms and then 150ms (",
        "exceptions of type KeyError: 40 and then 120 a second (",
        "growth of objects of type Row: 10 and then 30 a second (",
        "growth of objects of type Leak: 0 and then 3 a second (",
        "stalls: 300 and then 900 a minute (",
        "lag of the event loop in MainThread: 2.0ms and then 6.0ms (",
        "waits for the GIL: 10.0% and then 30.0% of a core (",
        "garbage collection: 2.0% and then 6.0% of a core ("};
    char text[2000] = "";
    assert_int_equal(count_numbers(1.1, .1 + 1e-9, text, sizeof text), 0);
    assert_int_equal(count_numbers(3, .25, text, sizeof text), 8);
    assert_null(strstr(text, "stalls"));
    assert_int_equal(count_numbers(3, .1, text, sizeof text), 9);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_non_null(strstr(text, words[i]));
}

// Between equal runs, one difference in twenty exceeds two standard errors by
// chance. Far fewer functions seem to be slower by more than 10 %.
TEST_WITH(the_same_program_twice, NULL, release)
{
    unsigned shares = 0, means = 0, rates = 0, fails = 0, runs = 400;
    for (unsigned k = 0; k < runs; k++) {
        struct Request request = PLAIN;
        request.samples = k % 2 ? 2500 : 400;
        compare(&request, &request);
        for (size_t i = 0; i < FUNCTIONS; i++) {
            const struct ComparedFunction *f = &comparison.functions[i];
            shares += f->share.apart != 0;
            means += f->mean.apart != 0;
            rates += f->rate.apart != 0;
            fails += Comparison_is_slower(f, .1);
        }
    }
    assert_true(shares <= .05 * runs * FUNCTIONS);
    assert_true(means <= .05 * runs * FUNCTIONS);
    assert_true(rates <= .05 * runs * FUNCTIONS);
    assert_true(fails <= .01 * runs * FUNCTIONS);
}

TEST_WITH(a_function_that_is_slower, NULL, release)
{
    unsigned found = 0, first = 0, fails = 0, runs = 200;
    for (unsigned k = 0; k < runs; k++) {
        struct Request one = PLAIN, slow;
        const struct ComparedFunction *f;
        one.samples = 4000; // about 300 of these samples find f3
        slow = one;
        slow.slower = 1.5;
        compare(&one, &slow);
        f = function("f3");
        found += f->mean.apart && f->mean.change > 0 && f->apart;
        first += comparison.functions == f;
        fails += Comparison_is_slower(f, .1);
        assert_true(fabs(f->mean.change - .5) < 5 * f->mean.error);
        assert_false(Comparison_is_slower(f, 1));
    }
    assert_true(found >= .95 * runs);
    assert_true(first >= .9 * runs);
    assert_true(fails >= .8 * runs);
}

TEST_WITH(calls_that_are_not_known, NULL, release)
{
    struct Request one = PLAIN, slow;
    const struct ComparedFunction *f;
    one.dark = true;
    one.samples = 20000;
    slow = one;
    slow.slower = 1.5;
    compare(&one, &slow);
    f = function("f3");
    assert_true(isnan(comparison.mean_pace) && isnan(f->mean.a));
    assert_true(f->share.apart && !f->mean.apart);
    assert_true(Comparison_is_slower(f, .1));
    assert_non_null(strstr(comparison.notes[0].text, "only shares"));
}

// If one function becomes faster, the shares of all other functions grow. The
// other functions must not count as slower.
TEST_WITH(a_function_that_is_faster, NULL, release)
{
    unsigned fails = 0;
    for (unsigned k = 0; k < 50; k++) {
        struct Request slow = PLAIN, fast;
        slow.slower = 20;
        slow.dark = k % 2;
        slow.samples = 10000;
        fast = slow;
        fast.slower = 1;
        compare(&slow, &fast);
        assert_true(function("f3")->slowdown < -.5);
        for (size_t i = 0; i < FUNCTIONS; i++)
            fails += Comparison_is_slower(&comparison.functions[i], .1);
    }
    assert_true(fails <= .01 * 50 * FUNCTIONS);
}

static bool says(const char *words)
{
    for (size_t i = 0; i < comparison.note_count; i++)
        if (strstr(comparison.notes[i].text, words))
            return true;
    return false;
}

// Calls per second are not compared if the machines or the lengths of the runs
// differ.
TEST_WITH(other_machines_and_lengths, NULL, release)
{
    struct Request other = PLAIN;
    other.seconds = 3 * SECONDS;
    compare(&PLAIN, &other);
    assert_true(says("They took 10.0 and 30.0 s"));
    for (size_t i = 0; i < FUNCTIONS; i++)
        assert_false(comparison.functions[i].rate.apart);
    other.hz = 3e9;
    other.folder = "/home/x";
    struct Snapshot *two[] = {run(&PLAIN), run(&other)};
    for (int i = 0; i < 2; i++) {
        struct Function *f = (struct Function *)&two[i]->functions[4];
        f->calls = 1000;
        f->wall_p50_s = f->wall_p99_s = .02;
    }
    compare_snapshots(two[0], two[1]);
    assert_int_equal(comparison.number_count, 2); // P50 and P99 of f4
    assert_true(says("different machines"));
    assert_true(comparison.functions[0].share.a > 0 &&
                comparison.functions[0].share.b > 0);
}

TEST_WITH(what_is_missing, NULL, release)
{
    struct Snapshot *full = run(&PLAIN), *empty = Snapshot_new();
    const struct ComparedFunction *f;
    assert_int_equal(Comparison_make(&comparison, full, empty), 0);
    f = function("f0");
    assert_true(f->share.a > 0 && f->share.b == 0 && f->id == NULL_U64);
    assert_true(isnan(f->mean.b));
    release();
    assert_int_equal(Comparison_make(&comparison, empty, empty), 0);
    assert_int_equal(comparison.function_count, 0);
    full->function_count = 10;
    empty->functions = full->functions + 5;
    empty->function_count = 15;
    empty->sampler_samples = full->sampler_samples;
    empty->sampler_window_s = SECONDS;
    release();
    assert_int_equal(Comparison_make(&comparison, full, empty), 0);
    assert_int_equal(comparison.function_count, FUNCTIONS);
    assert_true(function("f0")->share.apart);
    Snapshot_free(full);
    Snapshot_free(empty);
}

// The second run waits for a socket for a longer time. The time of idle event
// loops does not count.
TEST_WITH(a_wait_that_grows, NULL, release)
{
    struct Request before = PLAIN, after = PLAIN;
    before.observed = after.observed = 100;
    before.waits[WAITS_SOCKET] = .1;
    before.waits[WAITS_LOCK] = .2;
    before.waits[WAITS_IDLE] = .1;
    after.waits[WAITS_SOCKET] = .9;
    after.waits[WAITS_LOCK] = .1;
    compare(&before, &after);
    const struct ComparedFunction *f = function("f5");
    assert_float_equal(f->wait.a, .3, 1e-6);
    assert_float_equal(f->wait.b, 1, 1e-6);
    assert_true(f->wait.apart && f->apart);
    assert_float_equal(f->weight, .7, .1);
    assert_int_equal(f->wait_count, 3);
    assert_string_equal(f->waits[0].kind, "socket");
    assert_float_equal(f->waits[0].b, .9, 1e-6);
    assert_string_equal(Comparison_wait(f), "socket");
    assert_false(function("f4")->wait.apart);
    assert_float_equal(function("f4")->wait.change, 0, 0);
    // In the opposite order, the wait for the socket has become shorter.
    compare(&after, &before);
    f = function("f5");
    assert_true(f->wait.apart && f->wait.change < 0);
    assert_string_equal(Comparison_wait(f), "socket");
}

TEST_WITH(waits_that_are_alike_or_unknown, NULL, release)
{
    struct Request before = PLAIN, after = PLAIN;
    before.observed = after.observed = 10;
    before.waits[WAITS_SLEEP] = .5;
    after.waits[WAITS_SLEEP] = .7;
    // Ten observations are too few for this difference.
    compare(&before, &after);
    assert_false(function("f5")->wait.apart);
    after.waits[WAITS_SLEEP] = .5;
    after.waits[WAITS_IDLE] = 5;
    after.waits[WAITS_CPU] = 5;
    compare(&before, &after);
    assert_float_equal(function("f5")->wait.change, 0, 1e-6);
    assert_null(Comparison_wait(function("f5")));
    // A recording of an older version has no waits.
    before.observed = 0;
    compare(&before, &after);
    assert_true(isnan(function("f5")->wait.a));
    assert_true(isnan(function("f5")->wait.change));
    assert_false(function("f5")->wait.apart);
}
