// SPDX-License-Identifier: MIT
// See sample.h.
#include "tests/tui/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Brief { // what a function's other numbers are made of
    const char *name;
    const char *file;
    unsigned line;
    double share; // mean
    double c;     // part of it in C
    double wait;
    double avg;
    double rate;
    enum FunctionState state;
    double age;
    double spec; // percent of 18 sites
};

static const struct Brief briefs[] = {
    {"EqualityConstraint.execute", "/srv/app/run_benchmark.py", 346, .314, .55,
     .02, 390, 1.2e6, STATE_PARTIAL, 4, 97},
    {"Plan.execute", "/srv/app/run_benchmark.py", 506, .163, 0, 0, 812, 3.1e5,
     STATE_ARMED, .2, 88},
    {"parse_row", "/srv/app/pkg/loader.py", 77, .098, .8, .11, 2310, 9e4,
     STATE_DARK, 61, 41},
    {"Planner.incremental_add", "/srv/app/run_benchmark.py", 388, .071, .1, 0,
     4120, 3.6e4, STATE_PARTIAL, 12, 91},
    {"JSONDecoder.raw_decode", "/usr/lib/python3.13/json/decoder.py", 344, .055,
     .93, 0, 9800, 1.2e4, STATE_DARK, 18, 72},
    {"make_handler.<locals>.wrapper", "/srv/app/web/handlers.py", 19, .031, .2,
     .25, 21500, 3100, STATE_ARMED, .1, 60},
    {"Variable.__init__", "/srv/app/run_benchmark.py", 290, .022, 0, 0, 310,
     1.5e5, STATE_DARK, 22, 100},
    {"\xe6\x95\xb0\xe6\x8d\xae\xe8\xa1\xa8.\xe8\xaf\xbb\xe5\x8f\x96",
     "/srv/app/\xe6\x95\xb0\xe6\x8d\xae.py", 12, .012, .4, 0, 5200, 4800,
     STATE_ARMED, 0, 55},
    {"evil\x1b[31m\x07\xc2\x9b"
     "2Jred\xe2\x80\xae"
     "gnp.exe\xff\xe2\x80\x8b",
     "/tmp/\x1b]0;owned\x07/x.py", 1, .006, 0, 0, 77, 120, STATE_ARMED, 3, -1},
    {"BinaryConstraint.choose_method.and_then_a_name_that_goes_on_and_on",
     "/srv/app/run_benchmark.py", 200, .004, 0, 0, 640, 7000, STATE_PARTIAL, 45,
     80},
    {"idle", "/srv/app/worker.py", 8, 0, 0, .4, 1.3e9, .2, STATE_ARMED, 7, 0},
    {"<module>", "/srv/app/worker.py", 1, 0, 0, 0, NAN, 0, STATE_DARK, 7900,
     -1},
};

#define BRIEFS (sizeof briefs / sizeof briefs[0])

static void *take(struct Snapshot *snapshot, size_t size)
{
    void *memory = Snapshot_alloc(snapshot, size ? size : 1);
    if (!memory)
        abort();
    return memory;
}

static void fill(struct Function *function, const struct Brief *brief,
                 const struct SampleWish *wish)
{
    double time = 600.0 + wish->tick;
    double swing = 1 + .25 * sin(wish->tick * .7 + brief->line);
    double share = brief->share * swing;
    double calls = brief->rate * time;
    function->name = brief->name;
    function->file = brief->file;
    function->line = brief->line;
    function->state = brief->state;
    function->age_s = brief->age;
    function->calls = (uint64_t)(brief->state == STATE_ARMED ? calls : 612);
    function->calls_exact = brief->state == STATE_ARMED;
    function->calls_estimated = calls;
    function->calls_per_s = brief->rate * swing;
    function->avg_cycles = brief->avg;
    function->min_cycles = brief->avg * .6;
    function->p50_cycles = brief->avg * .93;
    function->p99_cycles = brief->avg * 3.1;
    function->self_cycles = (uint64_t)(brief->share * time * 2.1e9);
    function->total_cycles = function->self_cycles * 2;
    function->waited_cycles = function->self_cycles / 50;
    function->sites = 18;
    function->dark_sites = (uint64_t)(brief->state * 9);
    if (brief->spec >= 0) {
        function->specializable_sites = 18;
        function->specialized_sites = (uint64_t)(brief->spec * .18 + .5);
    }
    if (wish->no_sampler)
        return;
    function->share = function->cpu_share = function->run_share = share;
    function->wait_share = brief->wait;
    function->c_share = share * brief->c;
    function->total_share = fmin(share * 1.8, 1);
    function->samples = (uint64_t)(share * time * 100);
}

static void add_extra(struct Snapshot *snapshot, struct Function *function,
                      unsigned number, const struct SampleWish *wish)
{
    char name[64], file[64];
    snprintf(name, sizeof name, "module_%u.Class.method_%u", number / 40,
             number);
    snprintf(file, sizeof file, "/srv/app/lib/module_%u.py", number / 40);
    struct Brief brief = {.line = 10 + number % 40 * 7,
                          .share = .003 / (1 + number % 97),
                          .c = .3,
                          .avg = 100 + number * 37 % 5000,
                          .rate = number * 7919 % 20000,
                          .state = number % 3,
                          .age = number % 29,
                          .spec = number % 100};
    brief.name = Snapshot_text(snapshot, name);
    brief.file = Snapshot_text(snapshot, file);
    if (!brief.name || !brief.file)
        abort();
    fill(function, &brief, wish);
}

static void add_functions(struct Snapshot *snapshot,
                          const struct SampleWish *wish)
{
    static const struct Function null = {.line = NULL_U64,
                                         .calls = NULL_U64,
                                         .calls_estimated = NULL_F64,
                                         .calls_per_s = NULL_F64,
                                         .share = NULL_F64,
                                         .cpu_share = NULL_F64,
                                         .wait_share = NULL_F64,
                                         .c_share = NULL_F64,
                                         .total_share = NULL_F64,
                                         .run_share = NULL_F64,
                                         .samples = NULL_U64,
                                         .self_cycles = NULL_U64,
                                         .total_cycles = NULL_U64,
                                         .avg_cycles = NULL_F64,
                                         .min_cycles = NULL_F64,
                                         .p50_cycles = NULL_F64,
                                         .p99_cycles = NULL_F64,
                                         .waited_cycles = NULL_U64,
                                         .age_s = NULL_F64,
                                         .sites = NULL_U64,
                                         .dark_sites = NULL_U64,
                                         .specialized_sites = NULL_U64,
                                         .specializable_sites = NULL_U64};
    size_t count = BRIEFS + wish->extra;
    struct Function *functions = take(snapshot, count * sizeof *functions);
    for (size_t i = 0; i < count; i++) {
        functions[i] = null;
        functions[i].id = i + 1;
        if (i < BRIEFS)
            fill(&functions[i], &briefs[i], wish);
        else
            add_extra(snapshot, &functions[i], (unsigned)(i - BRIEFS), wish);
    }
    snapshot->functions = functions;
    snapshot->function_count = count;
    snapshot->functions_total = count;
}

static uint64_t id_of(const struct Snapshot *snapshot, const char *name)
{
    for (size_t i = 0; i < snapshot->function_count; i++)
        if (!strcmp(snapshot->functions[i].name, name))
            return snapshot->functions[i].id;
    abort();
}

static void add_story(struct Snapshot *snapshot, const struct SampleWish *wish)
{
    struct Transition *transitions = take(snapshot, 2 * sizeof *transitions);
    struct TransitionPair *pairs = take(snapshot, 2 * sizeof *pairs);
    transitions[0] = (struct Transition){snapshot->uptime_s - 2,
                                         "parse_row",
                                         "/srv/app/pkg/loader.py",
                                         77,
                                         24,
                                         "BINARY_SUBSCR_LIST_INT",
                                         "BINARY_SUBSCR",
                                         0,
                                         id_of(snapshot, "parse_row")};
    transitions[1] = (struct Transition){snapshot->uptime_s - 90,
                                         "Plan.execute",
                                         "/srv/app/run_benchmark.py",
                                         506,
                                         8,
                                         "LOAD_ATTR",
                                         "LOAD_ATTR_SLOT",
                                         0,
                                         id_of(snapshot, "Plan.execute")};
    pairs[0] = (struct TransitionPair){"BINARY_SUBSCR_LIST_INT",
                                       "BINARY_SUBSCR", 30 + 3u * wish->tick};
    pairs[1] = (struct TransitionPair){"LOAD_ATTR", "LOAD_ATTR_SLOT", 400};
    snapshot->transitions = transitions;
    snapshot->transition_count = 2;
    snapshot->transition_pairs = pairs;
    snapshot->transition_pair_count = 2;
}

static void add_threads(struct Snapshot *snapshot,
                        const struct SampleWish *wish)
{
    static const char *const names[] = {"MainThread", "Thread-1 (serve)",
                                        "pool-0", "pool-1"};
    struct Thread *threads = take(snapshot, 5 * sizeof *threads);
    for (unsigned i = 0; i < 4; i++)
        threads[i] = (struct Thread){
            .tid = 48213 + i,
            .name = names[i],
            .cpu_share = wish->no_sampler
                             ? NULL_F64
                             : .6 / (1 + i) * (.8 + .1 * sin(wish->tick + i)),
            .wait_share = wish->no_sampler ? NULL_F64 : .1,
            .samples = wish->no_sampler ? NULL_U64 : 1000 - 100 * i,
            .cpu_s = 10. / (1 + i)};
    threads[4] = (struct Thread){
        .tid = 48217,
        .name = "has ended",
        .cpu_share = NULL_F64,
        .wait_share = NULL_F64,
        .samples = NULL_U64,
        .cpu_s = 3.5,
        .ended = 1,
    };
    snapshot->threads = threads;
    snapshot->thread_count = 5;
}

struct Snapshot *Sample_new(struct SampleWish wish)
{
    struct Snapshot *snapshot = Snapshot_new();
    if (!snapshot)
        abort();
    snapshot->schema = 1;
    snapshot->version = "0.1.0";
    snapshot->pid = 48213;
    snapshot->command = "python3 worker.py --shard 3";
    snapshot->python = "3.13.5";
    snapshot->mode = "adaptive";
    snapshot->threshold = 500;
    snapshot->uptime_s = 8049 + wish.tick;
    snapshot->tsc_hz = 2.1e9;
    snapshot->events = 12000000 + 41200ull * wish.tick;
    snapshot->lost = 0;
    snapshot->memory_bytes = 7 << 20;
    if (!wish.no_overhead) {
        snapshot->overhead_measured = .008;
        snapshot->overhead_budget = .01;
        snapshot->overhead_hooks = .006;
        snapshot->overhead_rearm = .001;
        snapshot->overhead_threads = .001;
    }
    snapshot->sites_armed = 1204;
    snapshot->sites_dark = 5310;
    if (!wish.no_sampler) {
        snapshot->sampler_hz = 100;
        snapshot->sampler_samples = 60000;
        snapshot->sampler_unknown = 3;
        snapshot->sampler_elsewhere = .02;
    }
    add_functions(snapshot, &wish);
    add_story(snapshot, &wish);
    add_threads(snapshot, &wish);
    return snapshot;
}
