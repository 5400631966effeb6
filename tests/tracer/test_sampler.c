// SPDX-License-Identifier: MIT
// tracer/sampler: a program of real threads with stacks built by hand, whose
// shares are known; threads and codes that come and go; stop and fork. What it
// does when is tested in virtual time, without threads.
#define _GNU_SOURCE 1 // gettid, CPU_SET
#include "ipc/heap.h"
#include "tracer/sampler.h"

#include "tests/cage.h"
#include "tests/sanitizers.h"
#include "tests/tracer/make_code.h"
#include "tracer/rcu.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/between.h"

struct FakeFrame {
    uintptr_t code;
    uintptr_t previous;
    uintptr_t instruction;
};

struct FakeThread {
    uintptr_t frame;
    uintptr_t chunk;
    uintptr_t top;
    struct FakeFrame frames[8];
};

static const struct FrameLayout LAYOUT = {
    .thread_frame = offsetof(struct FakeThread, frame),
    .thread_chunk = offsetof(struct FakeThread, chunk),
    .thread_top = offsetof(struct FakeThread, top),
    .frame_code = offsetof(struct FakeFrame, code),
    .frame_previous = offsetof(struct FakeFrame, previous),
    .frame_instruction = offsetof(struct FakeFrame, instruction),
    .code_mask = ~(uintptr_t)3,
};

enum {
    ROOT = 0x1000,
    LONG = 0x2000,
    SHORT = 0x3000,
    NAP = 0x4000,
    HIDDEN = 0x5000 /* not in the registry */
};

static uint64_t now_ns(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void rest(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&time, NULL);
}

// --- A program ---------------------------------------------------------------

struct Program {
    pthread_t thread;
    _Atomic pid_t tid;
    _Atomic bool stop;
    bool sleeper;
    uint64_t unit_us; // of work
    _Atomic long nap_ms;
    volatile struct FakeThread state;
    double spun_s[3]; // CPU seconds under LONG, SHORT, HIDDEN
};

static void call(struct Program *program, uintptr_t code)
{
    volatile struct FakeThread *state = &program->state;
    volatile struct FakeFrame *frame = (void *)state->top;

    frame->code = code;
    frame->previous = state->frame;
    state->top += sizeof(*frame);
    state->frame = (uintptr_t)frame;
}

static void leave(struct Program *program)
{
    volatile struct FakeThread *state = &program->state;

    state->frame = ((volatile struct FakeFrame *)state->frame)->previous;
    state->top -= sizeof(struct FakeFrame);
}

static double spin(struct Program *program, uintptr_t code, uint64_t us)
{
    uint64_t from, now;

    call(program, code);
    from = now = now_ns(CLOCK_THREAD_CPUTIME_ID);
    while (now - from < us * 1000)
        now = now_ns(CLOCK_THREAD_CPUTIME_ID);
    leave(program);
    return (double)(now - from) * 1e-9;
}

static void *run_program(void *argument)
{
    struct Program *program = argument;

    call(program, ROOT);
    program->tid = gettid();
    while (!program->stop) {
        if (!program->sleeper) {
            uint64_t unit_us = program->unit_us;

            program->spun_s[0] += spin(program, LONG, 6 * unit_us);
            program->spun_s[1] += spin(program, SHORT, 3 * unit_us);
            program->spun_s[2] += spin(program, HIDDEN, unit_us);
        }
        call(program, NAP);
        rest(program->nap_ms);
        leave(program);
    }
    return NULL;
}

static uint64_t unit_us = 500;

static void program_start(struct Program *program, bool sleeper)
{
    memset(program, 0, sizeof(*program));
    program->unit_us = unit_us;
    program->sleeper = sleeper;
    program->nap_ms = 5;
    program->state.chunk = (uintptr_t)&program->state.frames;
    program->state.top = program->state.chunk;
    pthread_create(&program->thread, NULL, run_program, program);
    while (program->tid == 0)
        rest(1);
}

static void program_stop(struct Program *program)
{
    program->stop = true;
    pthread_join(program->thread, NULL);
}

static struct SampledThread listed(const struct Program *program)
{
    struct SampledThread thread = {.state = (uintptr_t)&program->state,
                                   .tid = program->tid};

    snprintf(thread.name, sizeof(thread.name), "worker %d", program->sleeper);
    return thread;
}

static struct Opcodes opcodes; // none is a call

static struct Registry *registry_of_program(void)
{
    static const uintptr_t codes[] = {ROOT, LONG, SHORT, NAP};
    struct Registry *registry = Registry_new();

    for (size_t i = 0; i < 4; i++)
        Registry_add(registry, make_code(Registry_next_id(registry), codes[i]));
    return registry;
}

// --- Shares ------------------------------------------------------------------

static double cpu_s(struct Registry *registry, uintptr_t code)
{
    return (double)Cell_get(
               &Registry_find(registry, code)->share.cpu.total_ns) *
           1e-9;
}

static double wait_s(struct Registry *registry, uintptr_t code)
{
    return (double)Cell_get(
               &Registry_find(registry, code)->share.wait.total_ns) *
           1e-9;
}

static double under_s(struct Registry *registry, uintptr_t code)
{
    return (double)Cell_get(
               &Registry_find(registry, code)->share.under.total_ns) *
           1e-9;
}

static uint64_t looks(struct Registry *registry, uintptr_t code)
{
    return Cell_get(&Registry_find(registry, code)->share.samples);
}

// s for which our threads could have run and had no CPU; 0 where the kernel
// does not say.
static double without_cpu_s(void)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *task;
    double sum = 0;

    while (tasks && (task = readdir(tasks))) {
        char path[300];
        unsigned long long ns = 0;
        FILE *file;

        snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat",
                 task->d_name);
        file = fopen(path, "r");
        if (file && fscanf(file, "%*u %llu", &ns) == 1)
            sum += (double)ns * 1e-9;
        if (file)
            fclose(file);
    }
    if (tasks)
        closedir(tasks);
    return sum;
}

enum Part {
    IN_LONG,
    IN_SHORT,
    IN_ROOT,
    IN_NAP,
    ELSEWHERE,
    WHOLE,
    UNDER,
    PARTS
};

// Some seconds of the program.
struct Measured {
    double off[PARTS]; // shares that were told too much, times spun
    double spun;       // s of CPU time, by the thread's own clock
    uint64_t looks;    // at work
};

#define ENOUGH_LOOKS 900 // a share of 60 % is 1.6 points off by chance
#define WITHIN 0.06
#define ROUNDS 12 // of a second, at most

static bool is_enough(const struct Measured *measured)
{
    return measured->looks >= ENOUGH_LOOKS;
}

// How far off the worst share is; NaN if one is.
static double worst(const struct Measured *measured)
{
    double worst = 0;

    for (int i = 0; i < PARTS; i++) {
        double off = fabs(measured->off[i] / measured->spun);

        if (!(off <= worst))
            worst = off;
    }
    return worst;
}

// A program that works half of the time and sleeps the other: its CPU time is
// where it worked, though half of the samples find it asleep. A second in which
// others had the CPUs is left out: looks come where threads change, then.
static void measure(struct Measured *measured)
{
    struct Registry *registry = registry_of_program();
    struct Program program;
    struct SampledThread thread;
    struct Sampler *sampler;
    struct SamplerTotals totals;
    struct ThreadShares *shares;
    double off[PARTS], spun, waited, hidden, lost = without_cpu_s();

    program_start(&program, false);
    thread = listed(&program);
    assert_int_equal(Sampler_start(&sampler, registry, &LAYOUT, &opcodes, 500),
                     0);
    assert_int_equal(Sampler_set_threads(sampler, &thread, 1), 0);
    rest(1000);
    lost = without_cpu_s() - lost;
    Sampler_totals(sampler, &totals);
    assert_int_equal(Sampler_threads(sampler, &shares), 1);
    Sampler_stop(sampler);
    program_stop(&program);

    assert_true(totals.hz > 1 && totals.hz < 600);
    assert_true(totals.cpu_s > 0);
    assert_int_equal(shares->tid, program.tid);
    assert_string_equal(shares->name, "worker 0");
    spun = program.spun_s[0] + program.spun_s[1] + program.spun_s[2];
    hidden = program.spun_s[2]; // is ROOT's, its accepted caller's
    waited = wait_s(registry, ROOT) + wait_s(registry, LONG) +
             wait_s(registry, SHORT) + wait_s(registry, NAP);
    off[IN_LONG] = cpu_s(registry, LONG) - program.spun_s[0];
    off[IN_SHORT] = cpu_s(registry, SHORT) - program.spun_s[1];
    off[IN_ROOT] = cpu_s(registry, ROOT) - hidden;
    off[IN_NAP] = cpu_s(registry, NAP);
    off[ELSEWHERE] = totals.elsewhere / shares->cpu_share * spun - hidden;
    off[WHOLE] = (shares->cpu_share + shares->wait_share - 1) * spun;
    off[UNDER] = (under_s(registry, ROOT) / (spun + waited) - 1) * spun;
    Heap_free(shares);
    if (lost < 0.5 * spun) {
        measured->spun += spun;
        measured->looks += looks(registry, LONG) + looks(registry, SHORT) +
                           looks(registry, ROOT);
        for (int i = 0; i < PARTS; i++)
            measured->off[i] += off[i];
    }
    Registry_free(registry);
}

// false: others had the CPUs all the time.
static bool check_shares(void)
{
    struct Measured measured = {0};
    double off = NAN;

    for (int i = 0; i < ROUNDS && !(is_enough(&measured) && off < WITHIN);
         i++) {
        measure(&measured);
        off = worst(&measured);
    }
    if (is_enough(&measured) && !(off < WITHIN))
        fail_msg("a share is %g off", off);
    return is_enough(&measured);
}

static void test_shares_are_right(void **state)
{
    (void)state;
    if (!check_shares())
        skip();
}

// There the thread never runs while it is looked at.
static void test_shares_are_right_on_one_cpu(void **state)
{
    cpu_set_t before, one;
    bool checked;

    (void)state;
    if (sched_getaffinity(0, sizeof(before), &before) != 0)
        skip();
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof(one), &one) != 0)
        skip();
    checked = check_shares();
    sched_setaffinity(0, sizeof(before), &before);
    if (!checked)
        skip();
}

static struct Code *code_at(struct Registry *registry, uintptr_t address)
{
    return Registry_find(registry, address);
}

// Of the looks that there should be of LONG, by the time that it took, those
// that there are.
static double looks_of_long(void)
{
    struct Registry *registry = registry_of_program();
    struct Program program;
    struct SampledThread thread;
    struct Sampler *sampler;
    double looks, elapsed;

    program_start(&program, false);
    thread = listed(&program);
    assert_int_equal(Sampler_start(&sampler, registry, &LAYOUT, &opcodes, 400),
                     0);
    Sampler_set_threads(sampler, &thread, 1);
    rest(1500);
    program_stop(&program);
    elapsed = Sampler_now(sampler) * 1e-9;
    looks = (double)Cell_get(&code_at(registry, LONG)->share.samples) /
            (double)(Cell_get(&code_at(registry, LONG)->share.samples) +
                     Cell_get(&code_at(registry, NAP)->share.samples) +
                     Cell_get(&code_at(registry, ROOT)->share.samples) +
                     Cell_get(&code_at(registry, SHORT)->share.samples));
    Sampler_stop(sampler);
    Registry_free(registry);
    return looks * elapsed / program.spun_s[0];
}

// Linux 6.6 to 6.11 cannot be asked for it; before, nobody has to ask.
static bool has_short_turns(void)
{
    uint64_t attributes[6] = {sizeof attributes};

    return syscall(SYS_sched_getattr, 0, attributes, sizeof attributes, 0) ==
               0 &&
           attributes[3] > 0;
}

// Who is done with its work before its turn is over would be seen asleep,
// nearly always, if the kernel let us wait for that.
static void test_who_works_for_less_than_a_turn(void **state)
{
    cpu_set_t before, one;
    double seen = 0;

    (void)state;
    if (!has_short_turns() ||
        sched_getaffinity(0, sizeof(before), &before) != 0)
        skip();
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof(one), &one) != 0)
        skip();
    unit_us = 50;
    for (int i = 0; i < 3 && seen < 0.6; i++)
        seen = looks_of_long();
    unit_us = 500;
    sched_setaffinity(0, sizeof(before), &before);
    assert_true(seen >= 0.6);
}

static struct SamplerTotals totals_of(struct Sampler *sampler)
{
    struct SamplerTotals totals;

    Sampler_totals(sampler, &totals);
    return totals;
}

static void wait_for_wakeups(struct Sampler *sampler, uint64_t more)
{
    uint64_t before = totals_of(sampler).wakeups;

    for (int i = 0; i < 10000 && totals_of(sampler).wakeups < before + more;
         i++)
        rest(1);
    assert_true(totals_of(sampler).wakeups >= before + more);
}

// --- Virtual time ------------------------------------------------------------

// A thread of the program and the clocks that the sampler reads. The thread is
// on one stack all the time.
static struct {
    uint64_t now_ns;    // of CLOCK_MONOTONIC; each reading of it takes 1 us
    uint64_t cpu_ns;    // of the thread
    uint64_t native_ns; // of a thread that is none of Python's
    bool runs, native_runs;
    uint64_t nap_ns; // the thread wakes up so often, if not 0, and runs
    uint64_t run_ns; // ... so long
    double prices;   // what interruptions cost, us; each time one more
    struct FakeThread state;
    struct Registry *registry;
    struct Sampler *sampler;
} simulated;

#define SIMULATED_TID 0x7ffffff0

static void pass(uint64_t ns)
{
    uint64_t then = simulated.now_ns, nap_ns = simulated.nap_ns;

    simulated.now_ns += ns;
    if (simulated.runs)
        simulated.cpu_ns += ns;
    if (simulated.native_runs)
        simulated.native_ns += ns;
    if (nap_ns)
        simulated.cpu_ns +=
            (simulated.now_ns / nap_ns - then / nap_ns) * simulated.run_ns;
}

static uint64_t read_simulated(void *context, clockid_t id)
{
    (void)context;
    if (id == CLOCK_MONOTONIC)
        pass(1000);
    return id == CLOCK_MONOTONIC               ? simulated.now_ns
           : id == Now_clock_of(SIMULATED_TID) ? simulated.cpu_ns
           : id == CLOCK_PROCESS_CPUTIME_ID
               ? simulated.cpu_ns + simulated.native_ns
               : 0;
}

static double measure_simulated(void *context, uint64_t *cpu_ns)
{
    (void)context;
    *cpu_ns = 0;
    simulated.prices += 1;
    return simulated.prices * 1e-6;
}

// ROOT has called `top`.
static void simulate(uintptr_t top, double hz)
{
    static const struct SampleClock clock = {.read_ns = read_simulated,
                                             .measure = measure_simulated};
    const struct SampledThread thread = {.state = (uintptr_t)&simulated.state,
                                         .tid = SIMULATED_TID};
    struct FakeThread *state = &simulated.state;
    struct SamplerParts parts = {registry_of_program(), &LAYOUT, &opcodes,
                                 &clock};

    memset(&simulated, 0, sizeof simulated);
    simulated.now_ns = simulated.cpu_ns = simulated.native_ns = 1000000000;
    simulated.registry = parts.registry;
    state->frames[0] = (struct FakeFrame){.code = ROOT};
    state->frames[1] = (struct FakeFrame){
        .code = top, .previous = (uintptr_t)&state->frames[0]};
    state->chunk = (uintptr_t)state->frames;
    state->frame = (uintptr_t)&state->frames[1];
    state->top = (uintptr_t)&state->frames[2];
    assert_int_equal(Sampler_new(&simulated.sampler, &parts, hz), 0);
    assert_int_equal(Sampler_set_threads(simulated.sampler, &thread, 1), 0);
}

static int end_simulation(void **state)
{
    (void)state;
    Sampler_stop(simulated.sampler);
    Registry_free(simulated.registry);
    return 0;
}

static void run_simulation(double seconds)
{
    uint64_t until = simulated.now_ns + (uint64_t)(seconds * 1e9), due;

    while ((due = Sampler_step(simulated.sampler)) < until)
        if (due > simulated.now_ns)
            pass(due - simulated.now_ns);
    if (until > simulated.now_ns)
        pass(until - simulated.now_ns);
}

static struct SamplerTotals simulated_totals(void)
{
    return totals_of(simulated.sampler);
}

// Short naps end between two looks, long ones last for many.
static void test_waiting_is_credited_where_it_happens(void **state)
{
    static const uint64_t naps_ms[] = {5, 250, 100000};

    for (size_t i = 0; i < 3; i++) {
        double began, waited, elapsed;

        simulate(NAP, 200);
        simulated.nap_ns = naps_ms[i] * 1000000;
        simulated.run_ns = 100000;
        run_simulation(1);
        began = Sampler_now(simulated.sampler) * 1e-9;
        waited = wait_s(simulated.registry, NAP);
        run_simulation(10);
        elapsed = Sampler_now(simulated.sampler) * 1e-9 - began;
        waited = (wait_s(simulated.registry, NAP) - waited) / elapsed;
        assert_true(waited > 0.95 && waited < 1.03); // of the last looks
        assert_true(cpu_s(simulated.registry, NAP) < 0.03 * 11); // it ran 0.02
        assert_true(wait_s(simulated.registry, ROOT) == 0);
        if (i < 2)
            end_simulation(state);
    }
}

// All of its time is where it runs, or waits; and its caller's with what that
// called.
static void test_running_is_credited_where_it_happens(void **state)
{
    (void)state;
    simulate(LONG, 100);
    simulated.runs = true;
    run_simulation(20);
    assert_true(cpu_s(simulated.registry, LONG) > 19.5);
    assert_true(cpu_s(simulated.registry, LONG) < 20.01);
    assert_true(under_s(simulated.registry, ROOT) > 19.5);
    assert_true(cpu_s(simulated.registry, ROOT) == 0);
    simulated.runs = false; // in there
    run_simulation(20);
    assert_true(cpu_s(simulated.registry, LONG) < 20.01);
    assert_true(wait_s(simulated.registry, LONG) > 19.5);
    assert_true(wait_s(simulated.registry, LONG) < 20.5);
}

// --- Where nothing can be read any more ------------------------------------

static void close_memory_files(void)
{
    DIR *files = opendir("/proc/self/fd");
    const struct dirent *file;

    while (files && (file = readdir(files))) {
        char target[64] = "";

        if (readlinkat(dirfd(files), file->d_name, target, sizeof target - 1) >
                0 &&
            strstr(target, "/mem"))
            // Not the C library's: it is a race, and is meant to be one.
            syscall(SYS_close, atoi(file->d_name));
    }
    if (files)
        closedir(files);
}

static void allow_files(rlim_t count)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = count;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static bool is_blind(void)
{
    return Sampler_is_blind(simulated.sampler);
}

static uint64_t simulated_looks(void)
{
    return looks(simulated.registry, LONG);
}

// By the file, which is closed and cannot be opened, and then can.
static int see_again(void)
{
    double stood_at;
    uint64_t seen;

    simulate(LONG, 500);
    simulated.runs = true;
    run_simulation(1);
    if (simulated_looks() < 400 || is_blind())
        return 2;
    close_memory_files();
    allow_files(0);
    run_simulation(2.9);
    if (is_blind())
        return 3;
    run_simulation(1);
    if (!is_blind())
        return 4;
    stood_at = Sampler_now(simulated.sampler);
    seen = simulated_looks();
    run_simulation(60); // it has tried meanwhile, every two seconds
    if (Sampler_now(simulated.sampler) != stood_at ||
        simulated_looks() != seen || !is_blind())
        return 5;
    if (simulated_totals().wakeups > 500 * 5 + 35)
        return 6;
    allow_files(100);
    run_simulation(6);
    if (is_blind() || simulated_looks() < seen + 500)
        return 7;
    // What went by meanwhile is no part of the shares' time.
    return Sampler_now(simulated.sampler) - stood_at < 6.1e9 ? 0 : 8;
}

static void test_what_is_refused_for_a_while_is_said(void **state)
{
    static const int calls[] = {SYS_process_vm_writev, SYS_process_vm_readv};

    (void)state;
    expect_in_a_cage(calls, 2, see_again);
}

// --- What an interruption costs ------------------------------------------

// What `check` finds of a program that is sampled; for a child.
static int sampled(int (*check)(struct Sampler *, struct Registry *))
{
    struct Registry *registry = registry_of_program();
    struct Program program;
    struct SampledThread thread;
    struct Sampler *sampler;
    int found;

    program_start(&program, false);
    thread = listed(&program);
    if (Sampler_start(&sampler, registry, &LAYOUT, &opcodes, 500) != 0 ||
        Sampler_set_threads(sampler, &thread, 1) != 0)
        return 1;
    found = check(sampler, registry);
    Sampler_stop(sampler);
    program_stop(&program);
    Registry_free(registry);
    return found;
}

// Until that is known.
static int check_price(struct Sampler *sampler, struct Registry *registry)
{
    double price = 0;

    (void)registry;
    for (int i = 0; i < 12000 && price == 0; i++) {
        rest(10);
        price = totals_of(sampler).interruption_s;
    }
    return price == 10e-6 ? 0 : 2;
}

static int price_when_filtered(void)
{
    return sampled(check_price);
}

// What is not measured in a container is not told to cost nothing.
static void test_an_interruption_costs_something_everywhere(void **state)
{
    cpu_set_t cpus;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof cpus, &cpus), 0);
    if (CPU_COUNT(&cpus) < 2)
        skip();
    expect_in_a_cage(NULL, 0, price_when_filtered);
}

// It is a figure of its moment: the machine has slow phases. First after 3 s,
// then after 10 s and 1 000 wake-ups each time.
static void test_an_interruption_is_measured_again(void **state)
{
    (void)state;
    simulate(LONG, 50);
    simulated.runs = true;
    run_simulation(2.9);
    assert_true(simulated_totals().interruption_s == 0);
    run_simulation(0.2);
    assert_true(simulated_totals().interruption_s == 1e-6);
    run_simulation(15); // 750
    assert_true(simulated_totals().interruption_s == 1e-6);
    run_simulation(7);
    assert_true(simulated_totals().interruption_s == 2e-6);
    Sampler_set_hz(simulated.sampler, 500);
    run_simulation(7);
    assert_true(simulated.prices == 2);
    run_simulation(100);
    assert_between(simulated.prices, 11, 13); // every 10 s
    // What could not be measured costs what it did.
    simulated.prices = -1;
    run_simulation(10.5);
    assert_true(simulated.prices == 0);
    assert_true(simulated_totals().interruption_s > 10e-6);
}

// --- The rate ----------------------------------------------------------------

static void test_the_rate_changes(void **state)
{
    static const double wrong[] = {-1, NAN, INFINITY, 10001};
    struct Sampler *sampler;
    uint64_t stood;
    double now, credited;

    (void)state;
    simulate(LONG, 0.01); // the first look would be in 100 s
    simulated.runs = true;
    sampler = simulated.sampler;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(Sampler_set_hz(sampler, wrong[i]), -EINVAL);
    run_simulation(10);
    assert_int_equal(simulated_totals().wakeups, 0);
    assert_int_equal(Sampler_set_hz(sampler, 1000), 0);
    run_simulation(10);
    assert_between(simulated_totals().wakeups, 9500, 10500);
    assert_true(fabs(simulated_totals().hz - 1000) < 100);

    assert_int_equal(Sampler_set_hz(sampler, 0), 0);
    stood = simulated_totals().wakeups;
    now = Sampler_now(sampler);
    run_simulation(3600);
    assert_int_equal(simulated_totals().wakeups, stood);
    assert_true(simulated_totals().hz == 0);
    assert_true(Sampler_now(sampler) == now);

    // What went by meanwhile is nobody's.
    credited = under_s(simulated.registry, ROOT);
    assert_int_equal(Sampler_set_hz(sampler, 1000), 0);
    run_simulation(1);
    assert_true(Sampler_now(sampler) - now < 1.01e9);
    credited = under_s(simulated.registry, ROOT) - credited;
    assert_true(credited > 0.95 && credited < 1.01);
}

// By a thread that is asleep meanwhile.
static void test_a_change_of_the_rate_wakes_it(void **state)
{
    struct Registry *registry = registry_of_program();
    struct Sampler *sampler;

    (void)state;
    assert_int_equal(Sampler_start(&sampler, registry, &LAYOUT, &opcodes, 0.01),
                     0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(Sampler_set_hz(sampler, 1000), 0);
        wait_for_wakeups(sampler, 2);
        assert_int_equal(Sampler_set_hz(sampler, i ? 0 : 0.01), 0);
        rest(20);
    }
    Sampler_stop(sampler); // from standing by
    Registry_free(registry);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

// No rhythm of the program can hide from it.
static void test_looks_keep_no_step(void **state)
{
    double gaps[200], before;
    int little = 0, much = 0;

    (void)state;
    simulate(LONG, 100);
    simulated.runs = true;
    run_simulation(1);
    before = Sampler_now(simulated.sampler);
    for (int i = 0; i < 200; i++) {
        while (Sampler_now(simulated.sampler) == before)
            run_simulation(0.001);
        gaps[i] = Sampler_now(simulated.sampler) - before;
        before += gaps[i];
    }
    qsort(gaps, 200, sizeof *gaps, compare_doubles);
    for (int i = 0; i < 200; i++) {
        little += gaps[i] < 0.8 * gaps[100];
        much += gaps[i] > 1.2 * gaps[100];
    }
    // Evenly from a half to one and a half of the middle: 60 of each.
    assert_between(little, 25, 95);
    assert_between(much, 25, 95);
    assert_true(gaps[0] > 4.9e6 && gaps[199] < 15.1e6);
}

// A governor that never leaves it alone cannot keep it from looking.
static void test_the_rate_changes_all_the_time(void **state)
{
    (void)state;
    simulate(LONG, 1);
    simulated.runs = true;
    for (int i = 0; i < 10000; i++) {
        Sampler_set_hz(simulated.sampler, i % 2 ? 9.9 : 10);
        run_simulation(0.001);
    }
    assert_between(simulated_totals().wakeups, 90, 210);
}

// What it missed while the machine stalled it does not make up for.
static void test_after_a_stall(void **state)
{
    uint64_t wakeups;

    (void)state;
    simulate(LONG, 1000);
    simulated.runs = true;
    run_simulation(1);
    pass(5000000000);
    wakeups = simulated_totals().wakeups;
    run_simulation(1);
    assert_between(simulated_totals().wakeups - wakeups, 900, 1100);
}

// Nothing runs: it looks rarely; what waits is credited all the same; and when
// something runs again it is there.
static void test_it_stands_still_with_the_program(void **state)
{
    uint64_t wakeups;
    double from, waited;

    (void)state;
    simulate(NAP, 1000);
    run_simulation(5);
    wakeups = simulated_totals().wakeups;
    from = Sampler_now(simulated.sampler);
    waited = wait_s(simulated.registry, NAP);
    run_simulation(600);
    wakeups = simulated_totals().wakeups - wakeups;
    assert_between(wakeups, 7.5 * 600, 8.5 * 600);
    waited = wait_s(simulated.registry, NAP) - waited;
    from = (Sampler_now(simulated.sampler) - from) * 1e-9;
    assert_true(fabs(waited / from - 1) < 0.01);
    assert_true(
        ShareValue_window(&Registry_find(simulated.registry, NAP)->share.wait,
                          Sampler_now(simulated.sampler)) > 0.95);

    simulated.runs = true;
    run_simulation(0.2);
    wakeups = simulated_totals().wakeups;
    run_simulation(1);
    assert_true(simulated_totals().wakeups - wakeups > 900);
}

// Only a wake-up while something runs can interrupt it, be it Python or not.
static void test_whom_it_has_met(void **state)
{
    struct SamplerTotals before, after;

    (void)state;
    simulate(NAP, 1000);
    simulated.nap_ns = 2000000000;
    simulated.run_ns = 100000;
    run_simulation(10);
    before = simulated_totals();
    run_simulation(60);
    after = simulated_totals();
    assert_true(after.wakeups - before.wakeups > 400);
    assert_between(after.met - before.met, 25, 35); // a nap each

    Sampler_set_threads(simulated.sampler, NULL, 0);
    simulated.native_runs = true;
    run_simulation(1);
    before = simulated_totals();
    run_simulation(60);
    after = simulated_totals();
    assert_true(after.wakeups - before.wakeups > 400);
    assert_int_equal(after.met - before.met, after.wakeups - before.wakeups);
    simulated.native_runs = false;
    simulated.nap_ns = 0;
    run_simulation(1);
    before = simulated_totals();
    run_simulation(60);
    assert_int_equal(simulated_totals().met, before.met);
}

// --- The list of threads -----------------------------------------------------

// Those that live.
static long thread_count(struct Sampler *sampler)
{
    struct ThreadShares *shares;
    long all = Sampler_threads(sampler, &shares), count = 0;

    assert_true(all >= 0);
    for (long i = 0; i < all; i++)
        count += !shares[i].ended;
    Heap_free(shares);
    return count;
}

static void wait_for_count(struct Sampler *sampler, long count)
{
    for (int i = 0; i < 10000 && thread_count(sampler) != count; i++)
        rest(1);
    assert_int_equal(thread_count(sampler), count);
}

static uint64_t samples_of(struct Sampler *sampler, size_t row)
{
    struct ThreadShares *shares;
    uint64_t samples = 0;

    if (Sampler_threads(sampler, &shares) > (long)row)
        samples = shares[row].samples;
    Heap_free(shares);
    return samples;
}

static void wait_for_samples(struct Sampler *sampler, size_t row, uint64_t more)
{
    for (int i = 0; i < 10000 && samples_of(sampler, row) <= more; i++)
        rest(1);
    assert_true(samples_of(sampler, row) > more);
}

static void test_threads_come_and_go(void **state)
{
    struct Registry *registry = registry_of_program();
    struct Program programs[2];
    struct SampledThread threads[4] = {{.tid = 0}};
    struct ThreadShares *shares;
    struct Sampler *sampler;
    uint64_t samples;

    (void)state;
    for (int i = 0; i < 2; i++) {
        program_start(&programs[i], i == 0);
        threads[i + 1] = listed(&programs[i]);
    }
    memset(threads[1].name, 'x', sizeof(threads[1].name)); // no end
    threads[3] = (struct SampledThread){.state = 8, .tid = 0x7ffffff0};
    assert_int_equal(Sampler_start(&sampler, registry, &LAYOUT, &opcodes, 500),
                     0);
    assert_int_equal(thread_count(sampler), 0);
    Sampler_set_threads(sampler, threads, 4); // tid 0 is left out
    wait_for_count(sampler, 3);
    wait_for_samples(sampler, 1, 20);
    assert_int_equal(Sampler_threads(sampler, &shares), 3);
    assert_int_equal(shares[0].tid, programs[0].tid);
    assert_int_equal(strlen(shares[0].name), sizeof(shares[0].name) - 1);
    assert_int_equal(shares[2].samples, 0); // there is no such thread
    samples = shares[1].samples;
    Heap_free(shares);

    threads[0] = threads[2]; // now the second alone, and it goes on counting
    Sampler_set_threads(sampler, threads, 1);
    wait_for_count(sampler, 1);
    assert_true(samples_of(sampler, 0) >= samples);
    wait_for_samples(sampler, 0, samples);

    program_stop(&programs[1]); // ends, and the list is late
    rest(20);
    Sampler_set_threads(sampler, NULL, 0);
    wait_for_count(sampler, 0);
    // What has ended keeps its numbers; and comes back with them, should it
    // have been out of Python only (another state, the same thread).
    assert_int_equal(Sampler_threads(sampler, &shares), 3);
    for (int i = 0; i < 3; i++) {
        assert_true(shares[i].ended);
        if (shares[i].tid == threads[0].tid) {
            assert_true(shares[i].samples > samples);
            assert_true(shares[i].cpu_s >= 0);
            samples = shares[i].samples;
        }
    }
    assert_int_equal(Sampler_threads_dropped(sampler), 0);
    Heap_free(shares);
    threads[0].state += 8;
    Sampler_set_threads(sampler, threads, 1);
    wait_for_count(sampler, 1);
    assert_int_equal(samples_of(sampler, 0), samples);
    threads[0].state += 8;
    snprintf(threads[0].name, sizeof(threads[0].name), "renamed");
    Sampler_set_threads(sampler, threads, 1);
    for (int i = 0; i < 10000; i++) {
        bool same;

        assert_int_equal(Sampler_threads(sampler, &shares), 3);
        same = strcmp(shares[0].name, "renamed") == 0;
        assert_int_equal(shares[0].samples, samples);
        Heap_free(shares);
        if (same)
            break;
        rest(1);
        assert_true(i < 9999);
    }
    Sampler_set_threads(sampler, threads, 1); // never taken: freed by stop
    Sampler_stop(sampler);
    program_stop(&programs[0]);
    Registry_free(registry);
}

// More threads than are looked at in one wake-up: all have their turns.
static uint64_t take_ns(struct Subjects *subjects,
                        const struct SampledThread *threads, size_t count)
{
    uint64_t began;

    assert_int_equal(Subjects_offer(subjects, threads, count), 0);
    began = now_ns(CLOCK_THREAD_CPUTIME_ID);
    Subjects_take(subjects);
    return now_ns(CLOCK_THREAD_CPUTIME_ID) - began;
}

// CPython lists new threads first: all others move on by one.
static void test_a_new_thread_among_many(void **state)
{
    enum { MANY = 4000, TURNS = 5 };
    struct SampledThread *threads = calloc(MANY, sizeof *threads);
    struct Subjects subjects;
    uint64_t last = UINT64_MAX, first = UINT64_MAX, ns;

    (void)state;
    for (size_t i = 0; i < MANY; i++)
        threads[i] =
            (struct SampledThread){.state = 16 * (i + 1), .tid = 1 + (pid_t)i};
    for (int i = 0; i < TURNS; i++) {
        assert_int_equal(Subjects_init(&subjects), 0);
        take_ns(&subjects, threads + 1, MANY - 2);
        ns = take_ns(&subjects, threads + 1, MANY - 1);
        last = ns < last ? ns : last;
        ns = take_ns(&subjects, threads, MANY);
        first = ns < first ? ns : first;
        assert_int_equal(subjects.table->count, MANY);
        for (size_t at = 0; at < MANY; at++)
            assert_int_equal(subjects.table->subjects[at]->tid, 1 + at);
        Subjects_release(&subjects);
    }
    free(threads);
    assert_between(first, 0, 5 * last);
}

static void test_many_threads_take_turns(void **state)
{
    enum { COUNT = 150 };
    struct Registry *registry = registry_of_program();
    struct SampledThread threads[COUNT] = {{.tid = 0}};
    struct Sampler *sampler;
    struct Program program;

    (void)state;
    program_start(&program, true);
    for (size_t i = 0; i < COUNT; i++) {
        threads[i] = listed(&program);
        threads[i].state -= 8 * (i + 1); // different, and some of them wrong
    }
    assert_int_equal(Sampler_start(&sampler, registry, &LAYOUT, &opcodes, 1000),
                     0);
    Sampler_set_threads(sampler, threads, COUNT);
    wait_for_count(sampler, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        wait_for_samples(sampler, i, 0);
    Sampler_stop(sampler);
    program_stop(&program);
    Registry_free(registry);
}

struct Crowd {
    struct Sampler *sampler;
    struct Registry *registry;
    struct Program *programs;
    _Atomic bool stop;
};

static void *ask(void *argument)
{
    struct Crowd *crowd = argument;
    struct SamplerTotals totals;

    while (!crowd->stop) {
        thread_count(crowd->sampler);
        Sampler_totals(crowd->sampler, &totals);
        assert_true(Sampler_now(crowd->sampler) >= 0);
        rest(1);
    }
    return NULL;
}

// What the collector does.
static void reclaim(struct Registry *registry)
{
    struct Code *code = Registry_take_retired(registry), *next;

    Rcu_synchronize();
    for (; code; code = next) {
        next = code->next_retired;
        Code_free(code);
    }
}

static void test_everything_changes_at_once(void **state)
{
    struct Program programs[3];
    struct Crowd crowd = {.registry = registry_of_program(),
                          .programs = programs};
    struct SampledThread threads[3];
    pthread_t asker;

    (void)state;
    for (int i = 0; i < 3; i++)
        program_start(&programs[i], i != 0);
    assert_int_equal(
        Sampler_start(&crowd.sampler, crowd.registry, &LAYOUT, &opcodes, 2000),
        0);
    pthread_create(&asker, NULL, ask, &crowd);
    srand48(4);
    for (int i = 0; i < 300; i++) {
        uintptr_t address = 0x2000 + 0x1000 * (uintptr_t)(lrand48() % 3);
        struct Code *code = Registry_find(crowd.registry, address);
        size_t count = 0;

        for (int k = 0; k < 3; k++) {
            if (lrand48() % 3)
                threads[count++] = listed(&programs[k]);
        }
        Sampler_set_threads(crowd.sampler, threads, count);
        Registry_retire(crowd.registry, code);
        Registry_add(crowd.registry,
                     make_code(Registry_next_id(crowd.registry), address));
        reclaim(crowd.registry);
        rest(1);
    }
    crowd.stop = true;
    pthread_join(asker, NULL);
    Sampler_stop(crowd.sampler);
    for (int i = 0; i < 3; i++)
        program_stop(&programs[i]);
    Registry_free(crowd.registry);
}

// --- Start, stop, fork -------------------------------------------------------

static void test_what_cannot_be_is_refused(void **state)
{
    static const double rates[] = {0, -1, NAN, INFINITY, 10001};
    struct FrameLayout layout = LAYOUT;
    struct Sampler *sampler = NULL;

    (void)state;
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(
            Sampler_start(&sampler, NULL, &LAYOUT, &opcodes, rates[i]),
            -EINVAL);
    layout.frame_code = 100000;
    assert_int_equal(Sampler_start(&sampler, NULL, &layout, &opcodes, 100),
                     -EINVAL);
    assert_null(sampler);
    Sampler_stop(NULL);
    Sampler_abandon(NULL);
}

static void test_stop_does_not_wait(void **state)
{
    uint64_t quickest = UINT64_MAX;
    struct Sampler *sampler;

    (void)state;
    for (int i = 0; i < 5; i++) { // the machine may be busy
        uint64_t before, took;

        assert_int_equal(Sampler_start(&sampler, NULL, &LAYOUT, &opcodes, 0.01),
                         0);
        rest(20);
        before = now_ns(CLOCK_MONOTONIC);
        Sampler_stop(sampler);
        took = now_ns(CLOCK_MONOTONIC) - before;
        quickest = took < quickest ? took : quickest;
    }
    assert_true(quickest < 50000000);
    assert_int_equal(Sampler_start(&sampler, NULL, &LAYOUT, &opcodes, 10000),
                     0);
    Sampler_stop(sampler); // at once, too
}

// Its name, its blocked signals and its stack as the kernel sees them.
static void test_the_thread_is_a_good_guest(void **state)
{
    struct Sampler *sampler;
    struct SamplerTotals totals = {.cpu_s = 0};
    struct dirent *entry;
    DIR *tasks;
    bool found = false;

    (void)state;
    assert_int_equal(Sampler_start(&sampler, NULL, &LAYOUT, &opcodes, 100), 0);
    for (int i = 0; i < 10000 && totals.cpu_s == 0; i++) {
        rest(1); // it has its name when it runs
        Sampler_totals(sampler, &totals);
    }
    tasks = opendir("/proc/self/task");
    while ((entry = readdir(tasks))) {
        char path[300], line[256];
        bool ours = false;
        FILE *file;

        snprintf(path, sizeof(path), "/proc/self/task/%s/status",
                 entry->d_name);
        file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
        while (file && fgets(line, sizeof(line), file)) {
            unsigned long long blocked;

            if (strcmp(line, "Name:\tocular-sampler\n") == 0)
                ours = found = true;
            // glibc keeps two of its own and KILL, STOP cannot be blocked.
            if (ours && sscanf(line, "SigBlk: %llx", &blocked) == 1)
                assert_int_equal(blocked | 0x180040100,
                                 0xfffffffe7ffbfeffull | 0x180040100);
        }
        if (file)
            fclose(file);
    }
    closedir(tasks);
    Sampler_stop(sampler);
    assert_true(found);
}

static void test_a_forked_child_abandons_it(void **state)
{
    struct Registry *registry = registry_of_program();
    struct Sampler *sampler;
    struct Program program;
    struct SampledThread thread;
    int status;

    (void)state;
    program_start(&program, false);
    thread = listed(&program);
    assert_int_equal(Sampler_start(&sampler, registry, &LAYOUT, &opcodes, 5000),
                     0);
    for (int i = 0; i < 30; i++) {
        pid_t pid;

        // The list changes every time, so that some forks meet the change.
        Sampler_set_threads(sampler, &thread, (size_t)(i % 2));
        rest(i % 3);
        if (FORKS_ALONE)
            Sampler_pause(sampler);
        Rcu_before_fork(); // the locks that python/fork.c holds
        Heap_before_fork();
        pid = fork();
        if (pid == 0) {
            alarm(10);
            Heap_after_fork();
            Rcu_after_fork_child();
            Sampler_abandon(sampler);
#if !UNDER_TSAN // which has no threads after a fork
            if (Sampler_start(&sampler, registry, &LAYOUT, &opcodes, 1000) != 0)
                _exit(1);
            Sampler_stop(sampler);
#endif
            _exit(0);
        }
        Heap_after_fork();
        Rcu_after_fork_parent();
        waitpid(pid, &status, 0);
        assert_int_equal(status, 0);
        assert_int_equal(Sampler_resume(sampler), 0);
    }
    Sampler_stop(sampler);
    program_stop(&program);
    Registry_free(registry);
}

#define SIMULATION(name) cmocka_unit_test_teardown(name, end_simulation)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_are_right),
        cmocka_unit_test(test_shares_are_right_on_one_cpu),
        cmocka_unit_test(test_who_works_for_less_than_a_turn),
        SIMULATION(test_waiting_is_credited_where_it_happens),
        SIMULATION(test_running_is_credited_where_it_happens),
        SIMULATION(test_an_interruption_is_measured_again),
        cmocka_unit_test(test_what_is_refused_for_a_while_is_said),
        cmocka_unit_test(test_an_interruption_costs_something_everywhere),
        SIMULATION(test_the_rate_changes),
        cmocka_unit_test(test_a_change_of_the_rate_wakes_it),
        SIMULATION(test_looks_keep_no_step),
        SIMULATION(test_the_rate_changes_all_the_time),
        SIMULATION(test_after_a_stall),
        SIMULATION(test_it_stands_still_with_the_program),
        SIMULATION(test_whom_it_has_met),
        cmocka_unit_test(test_threads_come_and_go),
        cmocka_unit_test(test_a_new_thread_among_many),
        cmocka_unit_test(test_many_threads_take_turns),
        cmocka_unit_test(test_everything_changes_at_once),
        cmocka_unit_test(test_what_cannot_be_is_refused),
        cmocka_unit_test(test_stop_does_not_wait),
        cmocka_unit_test(test_the_thread_is_a_good_guest),
        cmocka_unit_test(test_a_forked_child_abandons_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
