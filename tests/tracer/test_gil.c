// SPDX-License-Identifier: MIT
// Tests tracer/sample/gil and gil_watch. The tests set the clocks, the stacks
// and the GIL of the threads that the sampler observes.
#define _GNU_SOURCE 1 // for gettid().
#include "ipc/base/heap.h"
#include "tracer/sample/sampler.h"
#include "tracer/sample/wait_call.h"

#include "tests/rest.h"
#include "tests/unit.h"

#include "tests/tracer/make_code.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct FakeFrame {
    uintptr_t code, previous, instruction;
};

struct FakeThread {
    uintptr_t frame, chunk, request;
    uint8_t active;
    struct FakeFrame top;
};

static const uintptr_t CODES[] = {0x1000, 0x2000, 0x3000};
#define TID 0x7ffffff0 // Id of the first thread. The next thread has TID + 1.
#define THREADS 3
#define CROWD 600

// For each thread, true if it waits for the GIL.
static const bool NONE[THREADS] = {false}, SECOND[THREADS] = {false, true};

static struct {
    uint64_t wall_ns, cpu_ns[THREADS], ready_ns[THREADS];
    int running; // Number of the thread that uses a CPU, or -1.
    struct FakeThread threads[THREADS];
    enum GilWait waits[THREADS];
    enum WaitKind kinds[THREADS]; // the kind of wait if it is not for the GIL
    bool polls;
    int asked, asked_of[THREADS + CROWD];
    // CPU clock of all threads except the first three. 0 if they have ended.
    uint64_t crowd_ns;
    struct FakeThread crowd[CROWD + THREADS];
    bool asleep; // The holder of the GIL sleeps.
    // The struct of CPython's GIL.
    int locked;
    uintptr_t last_holder;
    unsigned long switches, interval_us;
} world;

static enum GilWait fake_wait(const struct Gil *gil,
                              struct GilQuestion *question)
{
    pid_t tid = question->tid;

    (void)gil;
    if (tid < TID - THREADS - CROWD)
        return GIL_ELSEWHERE; // The thread that runs the test.
    world.asked_of[tid < TID ? THREADS + TID - 1 - tid : tid - TID]++;
    if (tid < TID) {
        question->kind = WAITS_OTHER;
        return GIL_ELSEWHERE;
    }
    question->kind = world.kinds[tid - TID];
    question->polls = world.polls;
    world.asked++;
    question->ready_ns = world.ready_ns[tid - TID];
    if (world.waits[tid - TID] == GIL_WAITS)
        question->kind = WAITS_GIL;
    return world.waits[tid - TID];
}

static const struct Gil GIL = {
    .locked = &world.locked,
    .last_holder = &world.last_holder,
    .switches = &world.switches,
    .interval_us = &world.interval_us,
    .thread_request = offsetof(struct FakeThread, request),
    .request_bit = 1,
    .wait = fake_wait,
};

static enum GilWait wait_without_schedstat(const struct Gil *gil,
                                           struct GilQuestion *question)
{
    question->ready_unknown = true;
    return fake_wait(gil, question);
}

static const struct Gil GIL_WITHOUT_SCHEDSTAT = {
    .locked = &world.locked,
    .last_holder = &world.last_holder,
    .switches = &world.switches,
    .interval_us = &world.interval_us,
    .wait = wait_without_schedstat,
};

static struct FrameLayout layout = {
    .thread_frame = offsetof(struct FakeThread, frame),
    .thread_chunk = offsetof(struct FakeThread, chunk),
    .thread_active = offsetof(struct FakeThread, active),
    .active_mask = 1,
    .frame_code = offsetof(struct FakeFrame, code),
    .frame_previous = offsetof(struct FakeFrame, previous),
    .frame_instruction = offsetof(struct FakeFrame, instruction),
    .code_mask = ~(uintptr_t)3,
    .gil = &GIL,
};

static struct Opcodes opcodes;
static struct Clock counter;
static struct Registry *registry;
static struct Sampler *sampler;

static void pass(uint64_t ns)
{
    world.wall_ns += ns;
    if (world.running >= 0)
        world.cpu_ns[world.running] += ns;
}

static uint64_t read_world(void *context, clockid_t id)
{
    (void)context;
    pass(1000);
    for (int i = 0; i < THREADS; i++)
        if (id == Now_clock_of(TID + i))
            return world.cpu_ns[i];
    return id == CLOCK_MONOTONIC ? world.wall_ns : world.crowd_ns;
}

static struct EventLoops loops;

// Lists `ended` more threads, which have ended if crowd_ns is 0. Half of them
// come right after the first thread.
static void begin_among(size_t ended, const struct Gil *gil)
{
    static const struct SampleClock clock = {.read_ns = read_world};
    struct SamplerParts parts = {.layout = &layout,
                                 .opcodes = &opcodes,
                                 .counter = &counter,
                                 .clock = &clock,
                                 .loops = &loops,
                                 .signal = -1};
    struct ListedThread *listed = Heap_zeroed(THREADS + ended, sizeof(*listed));

    memset(&world, 0, sizeof world);
    world.wall_ns = 1000000000;
    world.running = -1;
    world.interval_us = 5000;
    layout.gil = gil;
    Clock_start(&counter);
    parts.registry = registry = Registry_new();
    for (int i = 0; i < THREADS; i++) {
        struct FakeThread *thread = &world.threads[i];

        Registry_add(registry, make_code(Registry_next_id(registry), CODES[i]));
        thread->top.code = CODES[i];
        thread->frame = thread->chunk = (uintptr_t)&thread->top;
        listed[i ? ended / 2 + i : 0] =
            (struct ListedThread){(uintptr_t)thread, TID + i, "t", 0};
        world.cpu_ns[i] = 1000000;
        world.waits[i] = GIL_ELSEWHERE;
        world.kinds[i] = WAITS_OTHER;
    }
    for (size_t i = 0; i < THREADS + ended; i++)
        if (!listed[i].tid)
            listed[i] = (struct ListedThread){(uintptr_t)&world.crowd[i],
                                              TID - 1 - (pid_t)i, "c", 0};
    assert_int_equal(Sampler_new(&sampler, &parts, 100), 0);
    assert_int_equal(Sampler_set_threads(sampler, listed, THREADS + ended), 0);
    Heap_free(listed);
}

static void begin(const struct Gil *gil)
{
    begin_among(0, gil);
}

static void end(void)
{
    Sampler_stop(sampler);
    Registry_free(registry);
}

// Lets time pass in which the thread `holder` runs with the GIL. The threads in
// `waiting` run very shortly from time to time, like threads that wait for
// CPython's GIL.
static void run(double seconds, int holder, const bool *waiting)
{
    uint64_t until = world.wall_ns + (uint64_t)(seconds * 1e9);

    world.running = world.asleep ? -1 : holder;
    world.locked = holder >= 0;
    if (holder >= 0 && world.last_holder != (uintptr_t)&world.threads[holder]) {
        world.last_holder = (uintptr_t)&world.threads[holder];
        world.switches++;
    }
    for (int i = 0; i < THREADS; i++) {
        world.threads[i].active = i == holder;
        world.waits[i] = waiting[i] ? GIL_WAITS : GIL_ELSEWHERE;
    }
    while (world.wall_ns < until) {
        for (int i = 0; i < THREADS; i++)
            world.cpu_ns[i] += waiting[i] ? 1000 : 0;
        pass(5000000);
        Sampler_step(sampler);
    }
}

static struct GilFigures figures(void)
{
    struct GilFigures figures;

    Sampler_gil(sampler, &figures);
    return figures;
}

static double blocked_s(int thread)
{
    const struct Code *code = Registry_find(registry, CODES[thread]);

    return (double)Counter_get(&Share_parts(&code->share)->blocked.total_ns) /
           1e9;
}

// Returns this kind's fraction of the thread's waits of known kinds.
static double part_of(int thread, enum WaitKind kind)
{
    const struct Code *code = Registry_find(registry, CODES[thread]);
    const struct ShareWaits *waits = Share_waits(&code->share);
    double sum = 0;

    assert_non_null(waits);
    for (int i = 0; i < WAIT_KINDS; i++)
        sum += (double)Counter_get(&waits->own[i].total_ns);
    return (double)Counter_get(&waits->own[kind].total_ns) / sum;
}

// Three threads wait all the time, and share a function. The second one never
// runs, so the kernel is asked only once what it waits for. The other threads
// run at times, so the kernel is asked about one of them in each step.
TEST_WITH(test_an_answer_stands_for_all_waits_since_the_last_one, NULL, end)
{
    const struct ShareWaits *waits;
    double all = 0;

    begin(&GIL);
    world.kinds[0] = WAITS_FILE;
    world.kinds[1] = WAITS_LOCK;
    world.kinds[2] = WAITS_SOCKET;
    world.threads[1].top.previous = (uintptr_t)&world.threads[0].top;
    world.threads[2].top.previous = (uintptr_t)&world.threads[0].top;
    for (int i = 0; i < 40000; i++) {
        world.cpu_ns[0] += 1000;
        world.cpu_ns[2] += 1000;
        run(0.005, -1, NONE);
    }
    waits = Share_waits(&Registry_find(registry, CODES[0])->share);
    for (int i = 0; i < WAIT_KINDS; i++)
        all += (double)Counter_get(&waits->total[i].total_ns);
    for (int i = 0; i < THREADS; i++)
        assert_float_equal(
            (double)Counter_get(&waits->total[world.kinds[i]].total_ns) / all,
            1.0 / 3, 0.1);
}

// The first thread has the GIL, but the kernel reports that it had no CPU for
// half of the time.
TEST_WITH(test_who_has_the_gil_may_lack_a_cpu, NULL, end)
{
    begin(&GIL);
    world.ready_ns[0] = 1;
    for (int i = 0; i < 100; i++) {
        run(0.05, 0, NONE);
        world.asleep = true;
        world.waits[0] = GIL_READY;
        world.cpu_ns[0] += 1000;
        world.ready_ns[0] += 50000000;
        run(0.05, 0, NONE);
        world.asleep = false;
    }
    assert_true(part_of(0, WAITS_CPU) > 0.95);
    assert_true(Sampler_knows_ready(sampler));
    assert_float_equal(figures().starved, 0.5, 0.1);
}

// If the kernel has no schedstat, waits for a CPU are unknown.
TEST_WITH(test_a_kernel_that_does_not_count_waits_for_a_cpu, NULL, end)
{
    begin(&GIL_WITHOUT_SCHEDSTAT);
    assert_true(Sampler_knows_waits(sampler));
    assert_false(Sampler_knows_ready(sampler));
    assert_true(isnan(figures().starved));
    assert_false(isnan(figures().waited));
}

// The kernel itself says whether it counts.
TEST(test_the_kernel_counts_waits_for_a_cpu)
{
    const struct Gil gil = {0};
    struct GilQuestion question = {.tid = gettid()};
    char text[64] = "";
    FILE *file = fopen("/proc/self/schedstat", "r");

    if (!file || !fgets(text, sizeof text, file) || atol(text) == 0)
        skip();
    fclose(file);
    if (Gil_wait(&gil, &question) <= GIL_UNANSWERED)
        skip();
    assert_false(question.ready_unknown);
}

// An event loop that runs no step is idle. If a step calls poll(), it waits for
// a socket.
TEST_WITH(test_a_loop_is_idle_between_steps, NULL, end)
{
    struct EventLoop *loop;

    EventLoops_init(&loops);
    loop = EventLoops_take(&loops, &loops, TID);
    begin(&GIL);
    world.polls = true;
    world.kinds[0] = world.kinds[1] = WAITS_SOCKET;
    run(5, -1, NONE);
    assert_true(part_of(0, WAITS_IDLE) == 1);
    assert_true(part_of(1, WAITS_SOCKET) == 1);
    // The step is shorter than a stall.
    EventLoops_begin(&loops, loop, UINT64_MAX, 0, CODES[0]);
    world.cpu_ns[0] += 1000;
    run(5, -1, NONE);
    assert_float_equal(part_of(0, WAITS_SOCKET), 0.5, 0.1);
    EventLoops_leave(&loops, &loops);
}

// Of 600 threads, the sampler observes only some in each step, and never the
// first two threads in the same step.
TEST_WITH(test_the_holder_is_found_among_many_threads, NULL, end)
{
    begin_among(600, &GIL);
    run(200, 0, SECOND);
    assert_true(figures().waited_s > 100);
    assert_true(blocked_s(0) > 10);
}

// With so many running threads, the kernel is seldom asked about each one.
TEST_WITH(test_old_waits_for_a_cpu_have_decayed, NULL, end)
{
    struct Snapshot *snapshot = Snapshot_new();
    const struct Thread *shares;

    begin_among(100, &GIL);
    for (int i = 0; i < 20000; i++) {
        world.crowd_ns += 1000;
        world.ready_ns[1] += 2500000;
        run(0.005, 0, SECOND);
    }
    shares = Sampler_threads(sampler, snapshot, 0);
    assert_int_equal(snapshot->thread_count, THREADS + 100);
    for (int i = 0; i < THREADS + 100; i++)
        if (shares[i].tid == TID + 1)
            assert_float_equal(shares[i].gil_wait_s, 50, 5);
    Snapshot_free(snapshot);
    assert_float_equal(part_of(1, WAITS_GIL), 0.5, 0.1);
    assert_float_equal(part_of(1, WAITS_CPU), 0.5, 0.1);
}

// The sampler observes only some of so many threads in one step.
TEST_WITH(test_each_of_many_threads_is_asked_about, NULL, end)
{
    int found = 0;

    begin_among(509, &GIL);
    world.crowd_ns = 1000;
    for (int s = 0; s < 600 && found < 512; s += 10) {
        run(10, -1, NONE);
        found = 0;
        for (int i = 0; i < THREADS + CROWD; i++)
            found += world.asked_of[i] > 0;
    }
    assert_int_equal(found, 512);
}

TEST_WITH(test_a_hold_ends_at_a_switch, NULL, end)
{
    begin(&GIL);
    world.threads[0].request = 1;
    for (int i = 0; i < 10; i++) {
        rest_ms(20);
        world.switches += 2; // Another thread had the GIL meanwhile.
        run(0.03, 0, SECOND);
    }
    // The sampler saw the thread at most once while it held the GIL.
    assert_float_equal(figures().longest_s, 0.005, 1e-6);
}

// In three turns, the thread first has the GIL but no CPU, then sleeps with the
// GIL, and at last does the same but has an event loop.
TEST_WITH(test_only_a_hold_in_c_is_a_stall, NULL, end)
{
    EventLoops_init(&loops);
    begin(&GIL);
    EventLoops_reset(&loops, 0.02, Clock_hz(&counter));
    world.threads[0].request = world.asleep = 1;
    for (int turn = 0; turn < 3; turn++) {
        if (turn == 2)
            EventLoops_take(&loops, &loops, TID);
        world.switches++;
        for (int i = 0; i < 6; i++) {
            run(0, 0, SECOND);
            world.waits[0] = turn ? GIL_ELSEWHERE : GIL_READY;
            pass(2000000000);
            Sampler_step(sampler);
            rest_ms(10);
        }
        assert_int_equal(Counter_get(&loops.stall_count), turn > 0);
    }
    assert_int_equal(loops.stalls[0].place.function, 1);
    EventLoops_reset(&loops, 0, 1);
}

static void assert_unknown(void)
{
    struct GilFigures now = figures();

    assert_true(isnan(now.waited) && isnan(now.waited_s));
    assert_false(Sampler_knows_waits(sampler));
}

TEST_WITH(test_what_cannot_be_read_is_null, NULL, end)
{
    begin(&GIL);
    run(1, 0, SECOND);
    assert_true(figures().waited > 0);
    world.cpu_ns[1] += 1000;
    world.waits[1] = GIL_UNREADABLE;
    for (int i = 0; i < 20 && Sampler_knows_waits(sampler); i++) {
        world.cpu_ns[1] += 1000;
        pass(50000000);
        Sampler_step(sampler);
    }
    assert_unknown();
    assert_true(figures().held > 0);
}

TEST_WITH(test_without_a_gil_all_is_null, NULL, end)
{
    struct Snapshot *snapshot = Snapshot_new();
    const struct Thread *rows;

    begin(NULL);
    run(1, 0, NONE);
    assert_unknown();
    rows = Sampler_threads(sampler, snapshot, 0);
    assert_true(isnan(rows->gil_held_s) && isnan(rows->gil_wait_share));
    Snapshot_free(snapshot);
    assert_true(isnan(figures().held) && isnan(figures().held_s));
    assert_true(isnan(figures().longest_s) && figures().depth == 0);
}

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t condition, other;
} locks = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
           PTHREAD_COND_INITIALIZER};

struct Waiter {
    pthread_cond_t *condition;
    _Atomic pid_t tid;
    bool stop;
    pthread_t thread;
};

static int reading[2]; // The descriptors of a pipe and of a socket.

static enum WaitKind kind_of(const struct Waiter *waiter, bool own_files)
{
    const struct Gil gil = {.from = 0};
    struct GilQuestion question;

    do {
        rest_ms(1);
        question =
            (struct GilQuestion){.tid = waiter->tid, .own_files = own_files};
    } while (!waiter->tid || Gil_wait(&gil, &question) != GIL_ELSEWHERE);
    return question.kind;
}

static void *time_out(void *argument)
{
    struct Waiter *waiter = argument;
    struct timespec end = {.tv_sec = time(NULL) + 3600};
    struct pollfd wanted = {.fd = reading[0], .events = POLLIN};

    waiter->tid = gettid();
    if (waiter->stop)
        return poll(&wanted, 1, 3600000) == 1 ? NULL : argument;
    pthread_mutex_lock(&locks.mutex);
    while (!waiter->stop)
        pthread_cond_timedwait(&locks.other, &locks.mutex, &end);
    pthread_mutex_unlock(&locks.mutex);
    return NULL;
}

// After a stop, the kernel continues a call with a timeout as restart_syscall.
TEST(test_a_stop_does_not_change_the_kind)
{
    struct Waiter waiters[] = {{.stop = false}, {.stop = true}};
    const struct Gil gil = {.from = 0};
    struct GilQuestion question;
    int pipes[2];
    pid_t child;

    assert_int_equal(pipe(pipes), 0);
    reading[0] = pipes[0];
    for (int i = 0; i < 2; i++)
        pthread_create(&waiters[i].thread, NULL, time_out, &waiters[i]);
    assert_int_equal(kind_of(&waiters[0], true), WAITS_LOCK);
    assert_int_equal(kind_of(&waiters[1], true), WAITS_SOCKET);
    child = fork();
    if (child == 0) {
        kill(getppid(), SIGSTOP);
        rest_ms(100);
        kill(getppid(), SIGCONT);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    assert_int_equal(kind_of(&waiters[0], true), WAITS_LOCK);
    do {
        rest_ms(1);
        question = (struct GilQuestion){.tid = waiters[1].tid};
    } while (Gil_wait(&gil, &question) != GIL_ELSEWHERE);
    assert_int_equal(question.kind, WAITS_SOCKET);
    assert_true(question.polls);
    pthread_mutex_lock(&locks.mutex);
    waiters[0].stop = true;
    pthread_cond_broadcast(&locks.other);
    pthread_mutex_unlock(&locks.mutex);
    close(pipes[1]);
    for (int i = 0; i < 2; i++)
        pthread_join(waiters[i].thread, NULL);
    close(pipes[0]);
}

TEST(test_an_unreadable_descriptor_is_of_unknown_kind)
{
    struct WaitCall call = {.tid = TID, .number = SYS_read, .first = 1000000};
    bool polls;

    assert_int_equal(WaitCall_kind(&call, &polls), WAIT_UNKNOWN);
    call.own_files = true;
    assert_int_equal(WaitCall_kind(&call, &polls), WAIT_UNKNOWN);
}

TEST(test_without_a_free_descriptor_there_is_no_answer)
{
    const struct Gil gil = {.from = 0};
    struct rlimit before, none;
    enum GilWait found;

    getrlimit(RLIMIT_NOFILE, &before);
    none = (struct rlimit){0, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    found = Gil_wait(&gil, &(struct GilQuestion){.tid = gettid()});
    setrlimit(RLIMIT_NOFILE, &before);
    assert_int_equal(found, GIL_UNANSWERED);
}
