// SPDX-License-Identifier: MIT
#include "tests/tui/sample.h"

#include "tests/function_record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Brief { // A function's numbers are computed from this.
    const char *name;
    const char *file;
    unsigned line;
    double share; // Mean share of a core.
    double c;     // Part of the share in C functions, 0 to 1.
    double wait;
    double avg;
    double rate;
    enum FunctionState state;
    double age;
    double spec; // percentage of the 18 sites that are specialised, or -1 if
                 // not known
};

static const struct Brief briefs[] = {
    {"EqualityConstraint.execute", "/srv/app/run_benchmark.py", 346, .314, .55,
     .02, 390, 1.2e6, STATE_PARTIAL, 4, 97},
    {"Plan.execute", "/srv/app/run_benchmark.py", 506, .163, 0, 0, 812, 3.1e5,
     STATE_ARMED, .2, 88},
    {"parse_row", "/srv/app/pkg/loader.py", 77, .098, .8, .11, 2310, 9e4,
     STATE_DARK, 181, 41},
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

// Latencies in seconds of functions that always have hooks, and of one that has
// hooks only in slices. Other functions have no latencies.
static const struct Wall {
    unsigned brief;
    double p50, p99, max;
    uint64_t in_flight;
    double oldest, await; // NaN: null
} walls[] = {
    {0, .00088, NAN, .0104, 2, .052, NAN},
    {1, .0021, .0083, .0412, 0, NAN, NAN},
    {5, .0414, .187, .422, 3, 18.2, .0391}, // a call of this function hangs
    {7, .312, .954, 1.41, 2, .731, .251},
    {8, 6.1e-6, 4.3e-5, .00021, 0, NAN, NAN},
    {10, 5.01, 5.02, 5.04, 1, 2.17, NAN},
};

#define BRIEFS (sizeof briefs / sizeof briefs[0])

static void *take_from(struct Arena *arena, size_t size)
{
    void *memory = Arena_alloc(arena, size ? size : 1);
    if (!memory)
        abort();
    return memory;
}

static void *take(struct Snapshot *snapshot, size_t size)
{
    return take_from(&snapshot->arena, size);
}

static void fill(struct Function *function, const struct Brief *brief,
                 const struct SampleSpec *request)
{
    static const struct PartShares parts = {
        .c = .008, .waits = {[WAITS_LOCK] = .021, [WAITS_CPU] = .004}};
    double time = 600.0 + request->tick;
    double swing = 1 + .25 * sin(request->tick * .7 + brief->line);
    double share = brief->share * swing;
    double calls = brief->rate * time;
    function->name = brief->name;
    function->file = brief->file;
    function->line = brief->line;
    function->state = brief->state;
    function->age_s = brief->age;
    function->calls = (uint64_t)(brief->state == STATE_ARMED ? calls : 612);
    function->calls_exact = brief->state == STATE_ARMED;
    function->calls_estimated = fmax(calls, (double)function->calls);
    function->calls_per_s = brief->rate * swing;
    function->rate_estimated = brief->state != STATE_ARMED;
    function->avg_cycles = brief->avg;
    // Short calls have 0 cycles, because the cost of the hooks was subtracted.
    function->min_cycles = brief->avg < 80 ? 0 : brief->avg * .6;
    function->p50_cycles = brief->avg < 80 ? 0 : brief->avg * .93;
    function->p99_cycles = brief->avg * 3.1;
    function->self_cycles = (uint64_t)(brief->share * time * 2.1e9);
    function->total_cycles = function->self_cycles * 2;
    function->waited_cycles = function->self_cycles / 50;
    function->raised = strcmp(brief->name, "parse_row") == 0 ? 15300 : 0;
    function->raised_estimated = 0;
    function->sites = 18;
    function->dark_sites = (uint64_t)(brief->state * 9);
    if (brief->spec >= 0) {
        function->specializable_sites = 18;
        function->specialized_sites = (uint64_t)(brief->spec * .18 + .5);
    }
    if (request->no_sampler)
        return;
    function->share = function->cpu_share = function->run_share = share;
    function->wait_share = brief->wait;
    function->gil_blocked_share = brief->c > 0 ? .3 * share : 0;
    function->c_share = share * brief->c;
    function->total_share = fmin(share * 1.8, 1);
    function->samples = (uint64_t)(share * time * 100);
    function->run_samples = function->samples;
    // For one function, the snapshot says how its time is divided into parts.
    if (strcmp(brief->name, "make_handler.<locals>.wrapper") != 0)
        return;
    function->total_parts = &parts;
    function->total_part_count = 1;
}

static void add_wall(struct Function *function, const struct Wall *wall,
                     unsigned tick)
{
    function->wall_p50_s = wall->p50;
    function->wall_p99_s = wall->p99;
    function->wall_max_s = wall->max;
    function->in_flight = wall->in_flight;
    function->in_flight_is_least =
        function->state == STATE_PARTIAL && wall->in_flight > 0;
    function->oldest_s = wall->oldest + tick;
    function->await_s = wall->await;
}

static void add_extra(struct Snapshot *snapshot, struct Function *function,
                      unsigned number, const struct SampleSpec *request)
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
    fill(function, &brief, request);
}

// Gives the function two rows of callers. One caller has half of the function's
// total share, and the row for all other callers has a tenth.
static void add_callers(struct Snapshot *snapshot, struct Function *function,
                        uint64_t caller)
{
    struct Caller *callers = take(snapshot, 2 * sizeof *callers);
    callers[0] = (struct Caller){caller, function->total_share / 2};
    callers[1] = (struct Caller){NULL_U64, function->total_share / 10};
    function->callers = callers;
    function->caller_count = 2;
}

static void add_functions(struct Snapshot *snapshot,
                          const struct SampleSpec *request)
{
    size_t count = BRIEFS + request->extra;
    struct Function *functions = take(snapshot, count * sizeof *functions);
    for (size_t i = 0; i < count; i++) {
        Record_clear(function_record(), &functions[i]);
        functions[i].id = i + 1;
        if (i < BRIEFS)
            fill(&functions[i], &briefs[i], request);
        else
            add_extra(snapshot, &functions[i], (unsigned)(i - BRIEFS), request);
    }
    for (size_t i = 0; i < sizeof walls / sizeof *walls; i++)
        add_wall(&functions[walls[i].brief], &walls[i], request->tick);
    for (size_t i = 1; i < BRIEFS && !request->no_sampler; i++)
        add_callers(snapshot, &functions[i], i / 2 + 1);
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

static void add_story(struct Snapshot *snapshot,
                      const struct SampleSpec *request)
{
    static const struct TransitionPair counts[] = {
        {"BINARY_SUBSCR_LIST_INT", "BINARY_SUBSCR", 30, 1},
        {"BINARY_OP_ADD_INT", "BINARY_OP_ADD_FLOAT", 12, 1},
        {"LOAD_ATTR", "LOAD_ATTR_SLOT", 400, 0}};
    static const struct { // the newest change comes first
        double ago;
        const char *function, *file;
        uint64_t line, offset, storm;
    } sites[] = {{2, "parse_row", "/srv/app/pkg/loader.py", 77, 24, 0},
                 {20, "EqualityConstraint.execute", "/srv/app/run_benchmark.py",
                  348, 20, 1},
                 {90, "Plan.execute", "/srv/app/run_benchmark.py", 506, 8, 0}};
    struct Transition *transitions = take(snapshot, 3 * sizeof *transitions);
    struct TransitionPair *pairs = take(snapshot, sizeof counts);
    memcpy(pairs, counts, sizeof counts);
    pairs[0].count += 3u * request->tick;
    for (size_t i = 0; i < 3; i++)
        transitions[i] =
            (struct Transition){.seen_at_s = snapshot->uptime_s - sites[i].ago,
                                .function = sites[i].function,
                                .file = sites[i].file,
                                .line = sites[i].line,
                                .offset = sites[i].offset,
                                .from = counts[i].from,
                                .to = counts[i].to,
                                .storm = sites[i].storm,
                                .id = id_of(snapshot, sites[i].function),
                                .deopt = counts[i].deopt};
    snapshot->transitions = transitions;
    snapshot->transition_count = 3;
    snapshot->transition_pairs = pairs;
    snapshot->transition_pair_count = 3;
}

// Adds event loops and stalls, which began long before the snapshot.
static void add_loops(struct Snapshot *snapshot)
{
    static const struct LoopRow loops[] = {
        {"MainThread", .00061, 1240, 4711, 40, 4, .02},
        {"pool-0", NULL_F64, 31.5, 4713, 31, 0, 0}};
    static const struct {
        double ago, seconds;
        const char *task, *function, *file, *stack;
        uint64_t line;
    } log[] = {{320, .0612, "Task-17", "parse_row", "/srv/app/pkg/loader.py",
                "<module>;Handle._run;serve;Plan.execute;parse_row", 81},
               {150, 1.27, "evil\x1b[31m\xff\xe2\x80\xae", "Plan.execute",
                "/srv/app/run_benchmark.py",
                "<module>;Handle._run;serve;evil\x1b[31m\xff;Plan.execute",
                512},
               {61, .0534, NULL, NULL, NULL, NULL, NULL_U64}};
    size_t count = sizeof log / sizeof log[0];
    struct StallRow *stalls = take(snapshot, count * sizeof *stalls);
    for (size_t i = 0; i < count; i++)
        stalls[i] = (struct StallRow){
            .at_s = snapshot->uptime_s - log[i].ago,
            .seconds = log[i].seconds,
            .thread = loops[0].thread,
            .task = log[i].task,
            .has_gil = !log[i].task,
            .function = log[i].function,
            .file = log[i].file,
            .line = log[i].line,
            .stack = log[i].stack,
            .tid = loops[0].tid,
            .id =
                log[i].function ? id_of(snapshot, log[i].function) : NULL_U64};
    snapshot->loops = loops;
    snapshot->loop_count = 2;
    snapshot->stalls = stalls;
    snapshot->stall_count = count;
    snapshot->stalls_total = 17;
    snapshot->stall_limit_s = .05;
}

// The texts of one kind are hostile.
static void add_exceptions(struct Snapshot *snapshot)
{
    static const struct ExceptionRow kinds[] = {
        {"evil\x1b[31m\xff", "Plan.execute", "/srv/app/run_benchmark.py", 508,
         0, 2, 0, NULL_F64, .2, 0, 4, 7000},
        {"KeyError", "parse_row", "/srv/app/pkg/loader.py", 77, 0, 15300, 0,
         NULL_F64, 31, 0, .4, 60},
        {"KeyError", "Plan.execute", "/srv/app/run_benchmark.py", NULL_U64, 0,
         0, 15300, NULL_F64, 0, 31, .4, 60},
        {"TimeoutError", NULL, NULL, NULL_U64, NULL_U64, 3, 1, NULL_F64, 0, 0,
         1800, 40},
    };
    size_t count = sizeof kinds / sizeof kinds[0];
    struct ExceptionRow *rows = take(snapshot, sizeof kinds);
    for (size_t i = 0; i < count; i++) {
        rows[i] = kinds[i];
        if (kinds[i].function)
            rows[i].id = id_of(snapshot, kinds[i].function);
    }
    snapshot->exceptions = rows;
    snapshot->exception_count = count;
    snapshot->exception_totals_raised = 15305;
    snapshot->exception_totals_passed = 15301;
    snapshot->exception_totals_control = 40012;
    snapshot->exception_totals_exact = 1;
}

static void add_objects(struct Snapshot *snapshot)
{
    static const struct ObjectRow types[] = {
        {"pkg.Row", NULL, NULL, NULL_U64, NULL_U64, 104, 4, 100, 9, 3, 1, 6000,
         250},
        {"pkg.Row", "parse_row", "/srv/app/pkg/loader.py", 70, 0, 104, NULL_F64,
         NULL_F64, NULL_F64, NULL_F64, NULL_U64, NULL_U64, NULL_U64},
        {"dict", NULL, NULL, NULL_U64, NULL_U64, 51200, 51199, .6, 400, 2, 0,
         3000000, 2999000},
        // As in the merged rows of two processes.
        {"dict", "(not traced)", NULL, NULL_U64, NULL_U64, 200, NULL_F64,
         NULL_F64, NULL_F64, NULL_F64, NULL_U64, NULL_U64, NULL_U64},
        {"dict", "Plan.execute", "/srv/app/run_benchmark.py", 500, 0, 51000,
         NULL_F64, NULL_F64, NULL_F64, NULL_F64, NULL_U64, NULL_U64, NULL_U64},
    };
    size_t count = sizeof types / sizeof types[0];
    struct ObjectRow *rows = take(snapshot, sizeof types);
    for (size_t i = 0; i < count; i++) {
        rows[i] = types[i];
        if (types[i].file)
            rows[i].id = id_of(snapshot, types[i].function);
    }
    snapshot->objects_types = rows;
    snapshot->objects_type_count = count;
    snapshot->objects_part = .12;
}

static void add_lines(struct Snapshot *snapshot)
{
    static const struct LineRow lines[] = {
        {"/srv/app/run_benchmark.py", 511, "Plan.execute", 0, .214, 5400,
         902411, 1, 4120},
        {"/srv/app/pkg/loader.py", 77, "parse_row", 0, .031, 700, 128, 0,
         6.7e6},
        {"/srv/app/pkg/loader.py", 75, "evil\x1b[31m", 0, .0004, 9, NULL_U64,
         NULL_U64, NAN},
    };
    size_t count = sizeof lines / sizeof lines[0];
    struct LineRow *rows = take(snapshot, sizeof lines);
    for (size_t i = 0; i < count; i++) {
        rows[i] = lines[i];
        rows[i].id = id_of(snapshot, i ? "parse_row" : "Plan.execute");
    }
    snapshot->lines = rows;
    snapshot->line_count = count;
    snapshot->chosen = "call,exception,line,branch";
}

static void add_threads(struct Snapshot *snapshot,
                        const struct SampleSpec *request)
{
    static const char *const names[] = {"MainThread", "Thread-1 (serve)",
                                        "pool-0", "pool-1", "has ended"};
    static const struct Thread unknown = {.cpu_share = NULL_F64,
                                          .wait_share = NULL_F64,
                                          .gil_held_share = NULL_F64,
                                          .gil_wait_share = NULL_F64,
                                          .gil_held_s = NULL_F64,
                                          .gil_wait_s = NULL_F64,
                                          .samples = NULL_U64};
    struct Thread *threads = take(snapshot, 5 * sizeof *threads);
    for (unsigned i = 0; i < 5; i++) {
        threads[i] = unknown;
        threads[i].tid = 48213 + i;
        threads[i].name = names[i];
        threads[i].cpu_s = 10. / (1 + i);
    }
    threads[4].cpu_s = 3.5;
    threads[4].ended = 1;
    for (unsigned i = 0; i < 4 && !request->no_sampler; i++) {
        struct Thread *thread = &threads[i];
        struct Caller *parts = take(snapshot, 4 * sizeof *parts);
        thread->cpu_share = .6 / (1 + i) * (.8 + .1 * sin(request->tick + i));
        thread->wait_share = .1;
        thread->gil_held_share = .5 / (1 + i);
        thread->gil_wait_share = .05 * i;
        thread->samples = 1000 - 100 * i;
        for (unsigned k = 0; k < 3; k++)
            parts[k] = (struct Caller){i + k + 1, thread->cpu_share * .1};
        parts[3] = (struct Caller){NULL_U64, thread->cpu_share * .7};
        thread->functions = parts;
        thread->function_count = 4;
    }
    snapshot->threads = threads;
    snapshot->thread_count = 5;
}

static void add_tasks(struct Snapshot *snapshot,
                      const struct SampleSpec *request)
{
    static const struct TaskGroup samples[] = {
        {"Session.keep_alive", "/srv/app/web/session.py", 41, 5210, 126, 4012,
         3, "Event.wait", "/usr/lib/python3.13/asyncio/locks.py", 213, 5208,
         840, .cpu_share = .021, .steps_per_s = 310},
        {"make_handler.<locals>.wrapper", "/srv/app/web/handlers.py", 19, 38,
         -12, 1.4, 6, "Queue.get", "/usr/lib/python3.13/asyncio/queues.py", 186,
         30, NAN, .cpu_share = .34, .steps_per_s = 52},
        {"idle", "/srv/app/worker.py", 8, 1, 0, 7900, 11, "sleep",
         "/usr/lib/python3.13/asyncio/tasks.py", 718, 1, NAN, .cpu_share = 0},
        {"refresh", NULL, NULL_U64, 1, NAN, NAN, NULL_U64, NULL, NULL, NULL_U64,
         NULL_U64, NAN, .cpu_share = NAN, .steps_per_s = NAN},
    };
    static const struct AwaitRow await_samples[] = {
        {3, "Session.keep_alive", "/srv/app/web/session.py", 41,
         .of = {[AWAITS_LOCK] = 4680, [AWAITS_LOOP] = 530}},
        {6, "make_handler.<locals>.wrapper", "/srv/app/web/handlers.py", 19,
         .of = {[AWAITS_QUEUE] = 21, [AWAITS_SLEEP] = 7, [AWAITS_TASK] = 2}},
    };
    static const struct StackPlace chain[] = {
        {3, "Session.keep_alive", "/srv/app/web/session.py", 44},
        {NULL_U64, "Session.ping", "/srv/app/web/session.py", 61},
        {NULL_U64, "Event.wait", "/usr/lib/python3.13/asyncio/locks.py", 213},
    };
    static const struct TaskRow tasks[] = {
        {"Task-17", "waits", 4012, 1, "Future", "Task-1", chain, 3, 1204, .021},
        {"Task-23", "waits", 310, 0, "Task-24", NULL, chain, 2, 3, 0},
        {"Task-31", "ready", 12, 0, NULL, "Task-1 +2", chain, 3, 77, .0004},
        {"nightly", "runs", NAN, 0, NULL, NULL, chain, 1, NULL_U64, .21},
        {"Task-99", "new", .4, 0, NULL, NULL, chain, 1, 0, NAN},
    };
    static const struct TaskGroup place_samples[] = {
        {"Session.start",
         "/srv/app/web/session.py",
         33,
         140,
         126,
         61,
         4,
         "Event.wait",
         "/usr/lib/python3.13/asyncio/locks.py",
         213,
         140,
         840,
         "Task-23",
         chain,
         3,
         0,
         tasks,
         2,
         .cpu_share = NAN,
         .steps_per_s = 44,
         .count_is_least = 1},
        {"Server.serve", "/srv/app/web/server.py", 87, 9, 0, 12, NULL_U64, NULL,
         NULL, NULL_U64, NULL_U64, NAN, .cpu_share = NAN, .steps_per_s = NAN},
    };
    struct TaskGroup *groups = take(snapshot, sizeof samples);
    memcpy(groups, samples, sizeof samples);
    groups[0].count += request->tick;
    groups[0].task = "Task-17";
    groups[2].oldest_is_least = true;
    groups[0].chain = chain;
    groups[0].chain_count = sizeof chain / sizeof *chain;
    groups[0].tasks = tasks;
    groups[0].task_count = sizeof tasks / sizeof *tasks;
    snapshot->tasks_groups = groups;
    snapshot->tasks_group_count = sizeof samples / sizeof *samples;
    struct TaskGroup *places = take(snapshot, sizeof place_samples);
    memcpy(places, place_samples, sizeof place_samples);
    snapshot->tasks_places = places;
    snapshot->tasks_place_count = sizeof place_samples / sizeof *place_samples;
    snapshot->tasks_total = 5250 + request->tick;
    struct AwaitRow *awaits = take(snapshot, sizeof await_samples);
    memcpy(awaits, await_samples, sizeof await_samples);
    snapshot->tasks_awaits = awaits;
    snapshot->tasks_await_count = sizeof await_samples / sizeof *await_samples;
}

enum { HOSTILE = 12 };
// Returns a hostile name. The name is a text that is wide, combining,
// right-to-left, control, escape, invisible, invalid, empty or extremely long.
static const char *hostile(struct Arena *arena, unsigned which)
{
    static const char *const names[] = {
        "\xe6\x95\xb0\xe6\x8d\xae\xe8\xa1\xa8\xe8\xaf\xbb\xe5\x8f\x96"
        "\xe6\x95\xb0\xe6\x8d\xae\xe8\xa1\xa8\xe8\xaf\xbb\xe5\x8f\x96",
        "Z\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xcc\x85"
        "a\xcc\x81\xcc\x82\xcc\x83l\xcc\x81g\xcc\x81o\xcc\x81",
        "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d.\xd9\x85\xd8\xb1\xd8\xad\xd8\xa8\xd8"
        "\xa7",
        "\xe2\x80\xae\xe2\x81\xa6reversed\xe2\x80\xac\xe2\x81\xa9",
        "\x1b]0;title\x07\x1b[2J\x1b[31m\x9b"
        "1m\r\n\t\x08\x7f",
        "\xe2\x80\x8b\xe2\x80\x8d\xef\xbb\xbf",
        "\xff\xfe\xc3\x28\xe2\x82\xf0\x9f\x92",
        "",
        "\xcc\x81",
        "\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\xef\xb8\x8f",
    };
    _Static_assert(sizeof names / sizeof names[0] + 2 == HOSTILE, "two more");
    if (which % HOSTILE < HOSTILE - 2)
        return names[which % HOSTILE];
    char *text = take_from(arena, 10241);
    for (unsigned i = 0; i < 10240 - 3; i += 3)
        memcpy(text + i, which % 2 ? "\xe6\x95\xb0" : "abc", 3);
    return text;
}

static void make_hostile(struct Snapshot *snapshot)
{
    struct Function *functions = (void *)(uintptr_t)snapshot->functions;
    struct Transition *changes = (void *)(uintptr_t)snapshot->transitions;
    struct TransitionPair *pairs =
        (void *)(uintptr_t)snapshot->transition_pairs;
    struct Thread *threads = (void *)(uintptr_t)snapshot->threads;
    struct TaskGroup *groups = (void *)(uintptr_t)snapshot->tasks_groups;
    struct AwaitRow *awaits = (void *)(uintptr_t)snapshot->tasks_awaits;
    struct Arena *arena = &snapshot->arena;
    unsigned next = 0;
    for (size_t i = 0; i < snapshot->tasks_group_count; i++) {
        groups[i].coroutine = hostile(arena, next++);
        groups[i].file = hostile(arena, next++);
        groups[i].waits_in = hostile(arena, next++);
        groups[i].task = hostile(arena, next++);
    }
    for (size_t i = 0; i < snapshot->tasks_await_count; i++) {
        awaits[i].name = hostile(arena, next++);
        awaits[i].of[i % AWAIT_KINDS] = i % 2 ? INFINITY : -1e300;
    }
    for (size_t i = 0; i < snapshot->function_count; i++) {
        functions[i].name = hostile(arena, next++);
        functions[i].file = hostile(arena, next++ / 2);
        functions[i].line = i % 3 ? i : NULL_U64 - 1;
    }
    for (size_t i = 0; i < snapshot->transition_count; i++) {
        changes[i].function = hostile(arena, next++);
        changes[i].from = hostile(arena, next++);
        changes[i].to = i % 2 ? changes[i].from : hostile(arena, next++);
        changes[i].storm = 1;
        pairs[i].from = hostile(arena, next++);
        pairs[i].to = hostile(arena, next++);
    }
    for (size_t i = 0; i < snapshot->thread_count; i++)
        threads[i].name = hostile(arena, next++);
    snapshot->command = hostile(arena, 4);
    snapshot->python = hostile(arena, 10);
    snapshot->mode = hostile(arena, 11);
}

struct Snapshot *Sample_new(struct SampleSpec request)
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
    snapshot->uptime_s = 8049 + request.tick;
    snapshot->tsc_hz = 2.1e9;
    snapshot->events = 12000000 + 41200ull * request.tick;
    snapshot->lost = 0;
    snapshot->memory_bytes = 7 << 20;
    if (!request.no_overhead) {
        snapshot->overhead_measured = .008;
        snapshot->overhead_budget = .01;
        snapshot->overhead_allowed = .01;
        snapshot->overhead_mean = .0079;
        snapshot->overhead_cores = .0056;
        snapshot->overhead_cores_allowed = .007;
        snapshot->overhead_hooks = .006;
        snapshot->overhead_rearm = .001;
        snapshot->overhead_threads = .001;
    }
    snapshot->sites_armed = 1204;
    snapshot->sites_dark = 5310;
    if (!request.no_sampler) {
        snapshot->sampler_hz = 100;
        snapshot->sampler_samples = 60000;
        snapshot->sampler_unknown = 3;
        snapshot->sampler_elsewhere = .02;
        snapshot->sampler_window_s = 12;
        snapshot->sampler_window_samples = 1212;
        snapshot->sampler_signal = 35;
    }
    if (request.trouble)
        snapshot->sampler_trouble =
            "this process may not read its own memory "
            "without the risk of a crash";
    add_functions(snapshot, &request);
    add_story(snapshot, &request);
    add_threads(snapshot, &request);
    add_loops(snapshot);
    add_tasks(snapshot, &request);
    add_exceptions(snapshot);
    add_objects(snapshot);
    add_lines(snapshot);
    if (request.hostile)
        make_hostile(snapshot);
    return snapshot;
}

// --- A listing of a method with a few lines, in all states

struct Listing *Sample_listing(uint64_t id, const char *file)
{
#define FIVE NULL_U64, 1212, 1, 101
#define SIX NULL_U64, 128, 0, 6.7e6
#define TAKEN 497, 128, 0, 6.7e6
#define NONE NULL_U64, NULL_U64, NULL_U64, NAN
    static const struct ListingRow rows[] = {
        {0, 4, "RESUME", NULL, 0, NULL, NULL_U64, NULL, 700, 0, 20, 1, 0, 0, 0,
         0, NONE},
        {2, 5, "LOAD_FAST", NULL, 1, "rows", NULL_U64, NULL, 700, 1, 20,
         NULL_U64, 0, 0, 0, 0, FIVE},
        {4, 5, "FOR_ITER", "FOR_ITER_LIST", 9, NULL, 30, NULL, 512, 0, 20, 0, 1,
         4, 0, 1, FIVE},
        {8, 6, "LOAD_GLOBAL", NULL, 0, "json", NULL_U64, NULL, 512, 0, 30,
         NULL_U64, 1, 0, 0, 1, SIX},
        {10, 6, "CALL", "CALL_PY_EXACT_ARGS", 1, NULL, NULL_U64, "json.loads",
         512, 0, 40.5, NULL_U64, 1, 80, 61, 1, SIX},
        {20, 6, "BINARY_OP", NULL, 5, "*", NULL_U64, NULL, 512, 0, 40, NULL_U64,
         1, 16, 0, 0, SIX},
        {22, 6, "POP_JUMP_IF_TRUE", NULL, 12, NULL, 4, NULL, 512, 0, NAN, 0, 0,
         0, 0, 0, TAKEN},
        {26, 6, "JUMP_BACKWARD", NULL, 12, NULL, 4, NULL, NULL_U64, 0, NAN, 0,
         0, 0, 0, 0, SIX},
        {30, 8, "RETURN_CONST", NULL, 1, "'x\x1b]0;y'", NULL_U64, NULL, 0, 1,
         NAN, 1, 0, 0, 0, 0, NONE},
    };
#undef FIVE
#undef SIX
#undef TAKEN
#undef NONE
    struct Listing *listing = Listing_new();
    if (!listing)
        abort();
    listing->id = id;
    listing->name = "A.run";
    listing->file = file;
    listing->line = 4;
    listing->precise = 0;
    listing->instructions = sizeof rows / sizeof rows[0];
    listing->words = 1;
    listing->rows = rows;
    listing->row_count = sizeof rows / sizeof rows[0];
    return listing;
}

// --- Stacks

static const struct {
    unsigned parent; // Index of the caller's row.
    unsigned brief;  // Index in `briefs`. BRIEFS stands for a cut-off stack.
    double share;
    double c;
} stacks[] = {
    {0, 0, .004, 0},      {0, 11, 0, 0},        {1, 1, .163, 0},
    {2, 0, .280, .15},    {2, 3, .071, .01},    {4, 0, .034, .02},
    {4, 9, .004, 0},      {1, 2, .098, .08},    {7, 4, .055, .05},
    {7, 7, .012, .005},   {1, 5, .031, .006},   {10, 8, .006, 0},
    {0, BRIEFS, .010, 0}, {12, 6, .022, 0},     {13, 13, .011, 0},
    {2, 6, .0009, 0},     {2, 8, .0007, .0001}, {3, 3, .05, 0},
    {17, 3, .03, 0},      {18, 3, .02, 0},      {19, 3, .01, 0},
};

#define STACKS (sizeof stacks / sizeof stacks[0])

static const struct {
    unsigned parent;
    const char *kind;
    double share;
} stack_waits[] = {
    {2, "lock", .21},  {7, "socket", .34}, {8, "socket", .08},
    {12, "sleep", .1}, {1, "idle", 1.92},  {4, NULL, .02},
    {2, "cpu", .05},   {10, "gil", .12},
};

#define STACK_WAITS (sizeof stack_waits / sizeof stack_waits[0])

struct FlameTable *Sample_stacks(struct SampleSpec request)
{
    struct FlameTable *table = FlameTable_new();
    struct FlameRow *rows =
        table ? Arena_alloc(&table->arena, STACKS * sizeof *rows) : NULL;
    struct FlameFunction *functions =
        rows ? Arena_alloc(&table->arena, BRIEFS * sizeof *functions) : NULL;
    struct FlameWait *waits =
        functions ? Arena_alloc(&table->arena, STACK_WAITS * sizeof *waits)
                  : NULL;
    if (!waits)
        abort();
    for (size_t i = 0; i < STACK_WAITS; i++)
        waits[i] = (struct FlameWait){
            stack_waits[i].parent, stack_waits[i].kind, stack_waits[i].share,
            (uint64_t)(stack_waits[i].share * (2 + request.tick) * 1e9)};
    for (size_t i = 0; i < STACKS; i++) {
        double swing = 1 + .25 * sin(request.tick * .7 + (double)i);
        unsigned brief = stacks[i].brief;
        rows[i] = (struct FlameRow){
            .parent = i ? stacks[i].parent : NULL_U64,
            .id = !i || brief == BRIEFS ? NULL_U64 : brief + 1,
            .share = stacks[i].share * swing,
            .c_share = stacks[i].c * swing,
            .cpu_ns = (uint64_t)(stacks[i].share * (2 + request.tick) * 1e9),
            .c_ns = (uint64_t)(stacks[i].c * (2 + request.tick) * 1e9),
        };
    }
    for (unsigned i = 0; i < BRIEFS; i++)
        functions[i] = (struct FlameFunction){
            .id = i + 1,
            .name = briefs[i].name,
            .file = briefs[i].file,
            .line = briefs[i].line,
        };
    table->kept_s = 2 + request.tick;
    table->samples = 100 * (request.tick + 2);
    table->rows = rows;
    table->row_count = STACKS;
    table->functions = functions;
    table->function_count = BRIEFS;
    table->waits = waits;
    table->wait_count = STACK_WAITS;
    return table;
}

// --- Hostile samples

const char *Sample_hostile(unsigned which)
{
    static struct Arena arena; // never freed, because the names must outlive a
                               // test
    static const char *names[HOSTILE];
    const char **name = &names[which % HOSTILE];
    if (!*name)
        *name = hostile(&arena, which % HOSTILE);
    return *name;
}

void Sample_make_hostile(struct Listing *listing)
{
    struct ListingRow *rows =
        take_from(&listing->arena, listing->row_count * sizeof *rows);
    memcpy(rows, listing->rows, listing->row_count * sizeof *rows);
    for (unsigned i = 0; i < listing->row_count; i++) {
        rows[i].opcode = hostile(&listing->arena, i);
        rows[i].live = hostile(&listing->arena, i + 3);
        rows[i].words = hostile(&listing->arena, i + 5);
        rows[i].callee = hostile(&listing->arena, i + 7);
        if (rows[i].target == NULL_U64)
            rows[i].argument = NULL_U64 - 1 - i;
    }
    listing->rows = rows;
    listing->name = hostile(&listing->arena, 4);
}

void Sample_make_hostile_stacks(struct FlameTable *table)
{
    struct FlameFunction *functions = (void *)(uintptr_t)table->functions;
    for (unsigned i = 0; i < table->function_count; i++) {
        functions[i].name = hostile(&table->arena, i);
        functions[i].file = hostile(&table->arena, i + 4);
        functions[i].line = NULL_U64 - 1;
    }
}

struct Function *Sample_functions(struct Snapshot *sample)
{
    return (struct Function *)(uintptr_t)sample->functions;
}
