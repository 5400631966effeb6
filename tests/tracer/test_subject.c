// SPDX-License-Identifier: MIT
// tracer/subject: clocks of threads that run, sleep, want to run and have
// ended; and who is credited for what.
#define _GNU_SOURCE 1 // gettid, CPU_SET
#include "ipc/heap.h"
#include "ipc/now.h"
#include "tracer/subject.h"

#include "tests/tracer/make_code.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/between.h"

static const struct SampleClock KERNEL = {.read_ns = SampleClock_kernel_ns};

static void rest(long ms)
{
    struct timespec time = {0, ms * 1000000};

    nanosleep(&time, NULL);
}

struct Worker {
    pthread_t thread;
    _Atomic pid_t tid;
    _Atomic bool spin;
    _Atomic bool stop;
    sem_t wake;
};

static void *work(void *argument)
{
    struct Worker *worker = argument;

    worker->tid = gettid();
    while (!worker->stop) {
        if (!worker->spin)
            rest(1);
    }
    return NULL;
}

static void start(struct Worker *worker, bool spin)
{
    worker->tid = 0;
    worker->spin = spin;
    worker->stop = false;
    pthread_create(&worker->thread, NULL, work, worker);
    while (worker->tid == 0)
        rest(1);
}

static void halt(struct Worker *worker)
{
    worker->stop = true;
    pthread_join(worker->thread, NULL);
}

// Clocks that stand still until they are told to go on.
struct Stopped {
    uint64_t wall_ns, cpu_ns;
};

static uint64_t read_stopped(void *context, clockid_t id)
{
    const struct Stopped *stopped = context;

    return id == CLOCK_MONOTONIC ? stopped->wall_ns : stopped->cpu_ns;
}

// What it has run, and idled, by the clocks that are handed in.
static void test_by_its_clocks(void **state)
{
    struct Stopped stopped = {.wall_ns = 5000000, .cpu_ns = 700};
    const struct SampleClock clock = {.read_ns = read_stopped,
                                      .context = &stopped};
    struct Subject subject;
    struct Walk walk = {.depth = 0};

    (void)state;
    Subject_init(&subject, 1, 0x7ffffff0);
    assert_int_equal(Subject_look(&subject, &clock, 0), SUBJECT_NEW);
    stopped.wall_ns += 10000;
    stopped.cpu_ns += 4000;
    assert_int_equal(Subject_look(&subject, &clock, 1e4), SUBJECT_RAN);
    assert_true(subject.ran_ns == 4000 && subject.since_ns == 10000);
    stopped.wall_ns += 200;
    assert_true(Subject_ran_part(&subject, &clock) == 0);
    stopped.cpu_ns += 50;
    assert_true(Subject_ran_part(&subject, &clock) == 0.25);
    Subject_set_stack(&subject, &walk, 0, (struct SubjectTop){0});
    assert_int_equal(Subject_look(&subject, &clock, 2e4), SUBJECT_RAN);
    stopped.wall_ns += 3600000000000; // an hour
    assert_int_equal(Subject_look(&subject, &clock, 3.6e12), SUBJECT_IDLE);
    assert_true(subject.idle_ns == 3.6e12);
    stopped.cpu_ns = 0;
    assert_int_equal(Subject_look(&subject, &clock, 3.7e12), SUBJECT_GONE);
}

static void test_a_running_thread(void **state)
{
    struct Subject subject;
    struct Worker worker;
    bool ran = false;

    (void)state;
    start(&worker, true);
    Subject_init(&subject, 1, worker.tid);
    assert_int_equal(Subject_look(&subject, &KERNEL, 0), SUBJECT_NEW);
    assert_true(subject.ran_ns == 0);
    rest(50);
    assert_int_equal(Subject_look(&subject, &KERNEL, 5e7), SUBJECT_RAN);
    for (int i = 0; i < 100 && !ran; i++) {
        rest(1);
        Subject_look(&subject, &KERNEL, 5e7);
        double part = Subject_ran_part(&subject, &KERNEL);

        assert_true(part >= 0 && part <= 1);
        ran = part > 0.5 || Subject_ask(&subject) != DOING_WAITED;
    }
    assert_true(ran);
    assert_true(subject.ran_ns > 0);
    assert_true(subject.since_ns > 0);
    assert_true(subject.idle_ns == 0);
    assert_true(ShareValue_total(&subject.cpu, 1e9) > 0);
    halt(&worker);
}

static void *sleep_long(void *argument)
{
    struct Worker *worker = argument;

    worker->tid = gettid();
    while (sem_wait(&worker->wake) != 0)
        ;
    return NULL;
}

static void test_a_sleeping_thread_idles(void **state)
{
    struct Subject subject;
    struct Walk walk = {.depth = 0};
    struct Worker worker = {.tid = 0};

    (void)state;
    sem_init(&worker.wake, 0, 0);
    pthread_create(&worker.thread, NULL, sleep_long, &worker);
    while (worker.tid == 0)
        rest(1);
    rest(5);
    Subject_init(&subject, 1, worker.tid);
    assert_int_equal(Subject_look(&subject, &KERNEL, 0), SUBJECT_NEW);
    rest(10);
    // Its stack is not known yet, so it is to be walked although it slept.
    assert_int_equal(Subject_look(&subject, &KERNEL, 1e7), SUBJECT_RAN);
    assert_true(Subject_ran_part(&subject, &KERNEL) == 0);
    assert_int_equal(Subject_ask(&subject), DOING_WAITED);
    Subject_set_stack(&subject, &walk, 0, (struct SubjectTop){0});
    rest(20);
    assert_int_equal(Subject_look(&subject, &KERNEL, 3e7), SUBJECT_IDLE);
    assert_true(subject.idle_ns > 19e6);
    assert_true(subject.ran_ns < 1e6);
    assert_int_equal(Cell_get(&subject.samples), 2);
    sem_post(&worker.wake);
    halt(&worker);
    sem_destroy(&worker.wake);
}

static void test_a_thread_that_ended(void **state)
{
    struct Subject subject;
    struct Worker worker;
    enum SubjectLook look = SUBJECT_NEW;

    (void)state;
    start(&worker, false);
    Subject_init(&subject, 1, worker.tid);
    Subject_look(&subject, &KERNEL, 0);
    halt(&worker);
    for (int i = 0; i < 100 && look != SUBJECT_GONE; i++) {
        rest(1); // join returns a moment before the kernel is done
        look = Subject_look(&subject, &KERNEL, 1e6);
    }
    assert_int_equal(look, SUBJECT_GONE);
    assert_true(Subject_ran_part(&subject, &KERNEL) == 0);
    assert_int_equal(Subject_ask(&subject), DOING_WAITED);
    Subject_init(&subject, 1, 0x7ffffff0); // never was one
    assert_int_equal(Subject_look(&subject, &KERNEL, 0), SUBJECT_GONE);
}

static void test_another_thread_with_its_number(void **state)
{
    struct Subject subject;
    struct Worker worker;

    (void)state;
    start(&worker, true);
    Subject_init(&subject, 1, worker.tid);
    Subject_look(&subject, &KERNEL, 0);
    rest(5);
    Subject_look(&subject, &KERNEL, 5e6);
    subject.cpu_ns += 1000000000000u; // the one before had run for long
    subject.walked = true;
    assert_int_equal(Subject_look(&subject, &KERNEL, 6e6), SUBJECT_NEW);
    assert_false(subject.walked);
    halt(&worker);
}

// On a machine with one CPU a thread never runs while we look at it.
static void test_a_thread_that_waits_for_our_cpu(void **state)
{
    struct Subject subject;
    struct Worker worker;
    cpu_set_t before, one;
    int could = 0;

    (void)state;
    if (sched_getaffinity(0, sizeof(before), &before) != 0)
        skip();
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof(one), &one) != 0)
        skip();
    start(&worker, true); // inherits it
    Subject_init(&subject, 1, worker.tid);
    for (int i = 0; i < 20; i++) {
        Subject_look(&subject, &KERNEL, i * 1e6);
        could += Subject_ask(&subject) == DOING_RAN;
        rest(2);
    }
    assert_true(Subject_is_crowded(&subject, 2e7));
    halt(&worker);
    sched_setaffinity(0, sizeof(before), &before);
    assert_true(could >= 18);
}

// What the kernel says of its CPUs counts, and is asked every two seconds.
static void test_whether_it_waits_for_cpus(void **state)
{
    const uint64_t long_ns = 1000000000000; // more than it can have by itself
    struct Subject subject;
    struct Worker worker;
    cpu_set_t set;
    bool crowded;

    (void)state;
    if (sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) < 2)
        skip();
    start(&worker, false);
    rest(5);
    Subject_init(&subject, 1, worker.tid);
    Subject_look(&subject, &KERNEL, 1);
    assert_true(Subject_is_crowded(&subject, 1)); // nothing is known yet
    if (subject.crowd_run == 0)
        skip();                   // a kernel without schedstat
    subject.crowd_run -= long_ns; // it has run all the time since
    assert_true(Subject_is_crowded(&subject, 1e9));
    assert_false(Subject_is_crowded(&subject, 3e9));
    subject.crowd_delay -= long_ns; // it has waited all the time since
    assert_false(Subject_is_crowded(&subject, 4e9));
    subject.since_ns = 1e8; // where looks are rare
    assert_false(Subject_is_crowded(&subject, 6e9));
    subject.since_ns = 5e7;
    assert_true(Subject_is_crowded(&subject, 6e9));
    // It ran, and no look has seen it.
    subject.crowded = false;
    subject.since_ns = 1e6;
    subject.ran_ns = 5e6;
    subject.seen_ns = 1e6;
    assert_true(Subject_is_crowded(&subject, 6e9));
    subject.seen_ns = 4e6;
    assert_false(Subject_is_crowded(&subject, 6e9));
    // What it has done so far says enough for a start.
    subject.ran_ns = 0;
    subject.crowd_at = 0;
    subject.crowd_run = subject.crowd_delay = 0;
    assert_true(Subject_is_crowded(&subject, 7e9));
    worker.spin = true;
    for (int i = 0; i < 1000 && Now_ns(Now_clock_of(worker.tid)) < 200000000;
         i++)
        rest(10);
    subject.crowd_at = 0;
    subject.crowd_run = subject.crowd_delay = 0;
    crowded = Subject_is_crowded(&subject, 8e9);
    assert_true(subject.crowd_run > 100000000);
    assert_int_equal(crowded, subject.crowd_delay > subject.crowd_run / 10);
    halt(&worker);
}

// --- Credit ------------------------------------------------------------------

// Of this thread: it sleeps when it is told to.
static void test_whether_it_slept(void **state)
{
    const struct timespec moment = {0, 1000000};
    struct Subject subject = {0};
    int awake = 0;

    (void)state;
    Subject_init(&subject, 0, gettid());
    assert_true(Subject_slept(&subject)); // not known
    for (int i = 0; i < 20; i++)
        awake += !Subject_slept(&subject);
    assert_true(awake > 0);
    nanosleep(&moment, NULL);
    assert_true(Subject_slept(&subject));
    subject.tid = -1;
    assert_true(Subject_slept(&subject));
}

struct Scene {
    struct Registry *registry;
    struct Code *a, *b, *c;
    struct Subject subject;
    struct Ledger ledger;
    struct Edges edges;
    uint32_t newest_id; // as of the walk
    struct SubjectTop top;
    bool cut;
};

static int set_scene(void **state)
{
    struct Scene *scene = calloc(1, sizeof(*scene));
    struct Code **codes[] = {&scene->a, &scene->b, &scene->c};

    scene->registry = Registry_new();
    for (uint32_t i = 0; i < 3; i++) {
        *codes[i] = make_code(i + 1, 0x1000 * (i + 1));
        Registry_add(scene->registry, *codes[i]);
    }
    scene->newest_id = 3;
    scene->ledger =
        (struct Ledger){.registry = scene->registry, .edges = &scene->edges};
    Subject_init(&scene->subject, 1, 1);
    *state = scene;
    return 0;
}

static int clear_scene(void **state)
{
    struct Scene *scene = *state;

    Registry_free(scene->registry);
    free(scene);
    return 0;
}

static void stack(struct Scene *scene, unsigned depth, const uintptr_t *codes)
{
    struct Walk *walk = calloc(1, sizeof(*walk));

    walk->depth = depth;
    walk->truncated = scene->cut;
    for (unsigned i = 0; i < depth; i++)
        walk->frames[i] = (struct WalkFrame){codes[i], codes[i]};
    Subject_set_stack(&scene->subject, walk, scene->newest_id, scene->top);
    free(walk);
}

// As if `ns` had passed, in all of which it did what it was doing at the end.
static double credit(struct Scene *scene, enum SubjectDoing doing, double ns)
{
    if (doing == DOING_IDLED)
        scene->subject.idle_ns += ns;
    else
        scene->subject.since_ns = ns;
    if (doing == DOING_RAN) {
        scene->subject.ran_ns += ns;
        scene->subject.owed_ns += ns;
    }
    return Subject_credit(&scene->subject, doing, &scene->ledger, 1e9);
}

static void assert_ns(const struct Code *code, uint64_t cpu, uint64_t wait,
                      uint64_t under)
{
    assert_int_equal(Cell_get(&code->share.cpu.total_ns), cpu);
    assert_int_equal(Cell_get(&code->share.wait.total_ns), wait);
    assert_int_equal(Cell_get(&code->share.under.total_ns), under);
}

// Its code object went after it was seen, and another one has its address.
static void test_who_came_later_is_not_credited(void **state)
{
    struct Scene *scene = *state;
    struct Code *later = make_code(4, 0x2000);

    stack(scene, 2, (uintptr_t[]){0x2000, 0x1000});
    Registry_retire(scene->registry, scene->b);
    Registry_add(scene->registry, later);
    assert_true(credit(scene, DOING_RAN, 100) == 100);
    assert_ns(later, 0, 0, 0);
    assert_ns(scene->b, 0, 0, 0);
    assert_ns(scene->a, 100, 0, 100);
    // At the next walk it is what is there. Ids may wrap around.
    scene->newest_id = 4;
    stack(scene, 2, (uintptr_t[]){0x2000, 0x1000});
    credit(scene, DOING_RAN, 100);
    assert_ns(later, 100, 0, 100);
    later->id = UINT32_MAX;
    scene->newest_id = 2;
    stack(scene, 2, (uintptr_t[]){0x2000, 0x1000});
    credit(scene, DOING_RAN, 100);
    assert_ns(later, 200, 0, 200);
    later->id = 4; // as the registry knows it
}

static void test_the_top_is_credited_and_all_below(void **state)
{
    struct Scene *scene = *state;

    stack(scene, 3, (uintptr_t[]){0x1000, 0x2000, 0x3000});
    assert_true(credit(scene, DOING_RAN, 100) == 0);
    assert_true(credit(scene, DOING_WAITED, 20) == 0);
    assert_true(credit(scene, DOING_IDLED, 3) == 0);
    assert_ns(scene->a, 100, 23, 123);
    assert_ns(scene->b, 0, 0, 123);
    assert_ns(scene->c, 0, 0, 123);
    assert_int_equal(Cell_get(&scene->a->share.samples), 3);
    assert_int_equal(Cell_get(&scene->a->share.run_samples), 1);
    assert_int_equal(Cell_get(&scene->b->share.samples), 0);
    assert_true(scene->subject.idle_ns == 0);
}

static void test_recursion_counts_once(void **state)
{
    struct Scene *scene = *state;

    stack(scene, 5, (uintptr_t[]){0x1000, 0x2000, 0x1000, 0x2000, 0x1000});
    credit(scene, DOING_RAN, 50);
    assert_ns(scene->a, 50, 0, 50);
    assert_ns(scene->b, 0, 0, 50);
    assert_ns(scene->c, 0, 0, 0);
}

static void test_unknown_code_on_top_credits_its_caller(void **state)
{
    struct Scene *scene = *state;

    stack(scene, 4, (uintptr_t[]){0x9000, 0, 0x2000, 0x3000});
    assert_true(credit(scene, DOING_RAN, 50) == 50); // elsewhere
    assert_true(credit(scene, DOING_WAITED, 7) == 0);
    assert_ns(scene->a, 0, 0, 0);
    assert_ns(scene->b, 50, 7, 57);
    assert_ns(scene->c, 0, 0, 57);
}

static void test_unknown_code_all_the_way_credits_nobody(void **state)
{
    struct Scene *scene = *state;

    stack(scene, 2, (uintptr_t[]){0x9000, 0x1001});
    assert_true(credit(scene, DOING_RAN, 50) == 50);
    stack(scene, 0, NULL);
    assert_true(credit(scene, DOING_RAN, 50) == 50);
    assert_true(credit(scene, DOING_WAITED, 50) == 0);
    assert_ns(scene->a, 0, 0, 0);
}

// It was runnable at every look but had the CPU half of the time.
static void test_waiting_for_a_cpu_is_waiting(void **state)
{
    struct Scene *scene = *state;

    stack(scene, 1, (uintptr_t[]){0x1000});
    for (int i = 0; i < 100; i++) {
        scene->subject.since_ns = 1000;
        scene->subject.ran_ns += 500;
        scene->subject.owed_ns += 500;
        Subject_credit(&scene->subject, DOING_RAN, &scene->ledger, 1e9);
    }
    assert_ns(scene->a, 50000, 50000, 100000);
    // Which is nothing that its calls take.
    assert_int_equal(Cell_get(&scene->a->share.queued.total_ns), 50000);
}

// On a CPU at some looks, ready for one at others: what it did is what it did
// on one, and the rest of the time it waited.
static void test_where_it_lost_its_cpu_says_little(void **state)
{
    struct Scene *scene = *state;

    for (int i = 0; i < 100; i++) {
        scene->subject.since_ns = 1000;
        scene->subject.ran_ns += 600;
        scene->subject.owed_ns += 600;
        stack(scene, 1, (uintptr_t[]){i % 2 ? 0x2000 : 0x1000});
        Subject_credit(&scene->subject, i % 2 ? DOING_READY : DOING_RAN,
                       &scene->ledger, 1e9);
    }
    assert_between(Cell_get(&scene->a->share.cpu.total_ns), 56000, 61500);
    assert_between(Cell_get(&scene->b->share.wait.total_ns), 38000, 42000);
    assert_int_equal(Cell_get(&scene->b->share.cpu.total_ns), 0);
    assert_between(Cell_get(&scene->a->share.wait.total_ns), 0, 1000);
}

// One CPU, ours: ready is all that it ever is. The first few looks may have
// missed it by chance, so that they do not count.
static void test_never_seen_running(void **state)
{
    struct Scene *scene = *state;

    for (int i = 0; i < 110; i++) {
        scene->subject.since_ns = 1000;
        scene->subject.ran_ns += 800;
        scene->subject.owed_ns += 800;
        stack(scene, 1, (uintptr_t[]){i % 4 ? 0x1000 : 0x2000});
        Subject_credit(&scene->subject, DOING_READY, &scene->ledger, 1e9);
        if (i == 9)
            assert_ns(scene->a, 0, 1400, 1400);
    }
    assert_ns(scene->a, 60000, 16400, 76400);
    assert_ns(scene->b, 20000, 5600, 25600);
}

// A thread that runs a little at a time, and is woken often: that two looks of
// fifty have found it running, where five should have, makes those that found
// it waiting for a CPU no better.
static void test_few_looks_prove_nothing(void **state)
{
    struct Scene *scene = *state;

    for (int i = 0; i < 50; i++) {
        scene->subject.since_ns = 1000;
        scene->subject.ran_ns += 100;
        scene->subject.owed_ns += 100;
        stack(scene, 1, (uintptr_t[]){i % 25 ? 0x1000 : 0x2000});
        Subject_credit(&scene->subject, i % 25 ? DOING_READY : DOING_RAN,
                       &scene->ledger, 1e9);
    }
    assert_int_equal(Cell_get(&scene->a->share.cpu.total_ns), 0);
    assert_true(Cell_get(&scene->b->share.cpu.total_ns) > 0);
}

// Looks found it running half as often as it did: the clock is right.
static void test_the_clock_outweighs_the_looks(void **state)
{
    struct Scene *scene = *state;

    stack(scene, 1, (uintptr_t[]){0x1000});
    for (int i = 0; i < 100; i++) {
        scene->subject.since_ns = 1000;
        scene->subject.ran_ns += 2000;
        scene->subject.owed_ns += 2000;
        Subject_credit(&scene->subject, DOING_RAN, &scene->ledger, 1e9);
    }
    assert_ns(scene->a, 200000, 0, 200000);
}

// Looked at late, since it had been asleep: it slept where it was, and only
// what it ran by its clock is what is on top now.
static void test_who_woke_had_slept_before(void **state)
{
    struct Scene *scene = *state;
    struct Subject *subject = &scene->subject;

    for (int i = 0; i < 2; i++) {
        stack(scene, 1, (uintptr_t[]){0x1000});
        subject->since_ns = 1000;
        subject->before_ns = 5000;
        subject->cpu_ns = 5300;
        subject->ran_ns += 300;
        subject->owed_ns += 300;
        Subject_woke(subject);
        Subject_credit(subject, DOING_IDLED, &scene->ledger, 1e9);
        stack(scene, 1, (uintptr_t[]){0x2000});
        // The second time it sleeps again already.
        Subject_credit(subject, i ? DOING_WAITED : DOING_RAN, &scene->ledger,
                       1e9);
    }
    assert_ns(scene->a, 0, 1400, 1400);
    assert_ns(scene->b, 300, 0, 300);
    // What nobody saw running goes to what is seen.
    subject->woke = false;
    credit(scene, DOING_RAN, 300); // 900 by its clock, 600 seen
    assert_ns(scene->b, 750, 0, 750);
}

// --- Callers, spots, C ---

// A share at 1e9 in ns.
#define WHOLE (-5e9 * expm1(-0.2))

static double caller_share(const struct Code *code, uint32_t id, double now)
{
    struct SplitRow rows[SPLIT_ROWS];
    size_t count =
        code->share.callers ? Split_read(code->share.callers, now, rows) : 0;

    for (size_t i = 0; i < count; i++)
        if (rows[i].id == id)
            return rows[i].share * WHOLE;
    return 0;
}

// Each function's total time is its outermost callers', and all of it.
static void test_callers(void **state)
{
    struct Scene *scene = *state;
    double now = 1e9;

    stack(scene, 3, (uintptr_t[]){0x1000, 0x9000, 0x2000}); // through unknown
    credit(scene, DOING_RAN, 1000);
    stack(scene, 2, (uintptr_t[]){0x1000, 0x3000});
    credit(scene, DOING_WAITED, 3000);
    // a and b call each other, c began; the loop is no part of it.
    stack(scene, 5, (uintptr_t[]){0x1000, 0x2000, 0x1000, 0x2000, 0x3000});
    credit(scene, DOING_RAN, 10000);
    assert_float_equal(caller_share(scene->a, scene->b->id, now), 11000, 20);
    assert_float_equal(caller_share(scene->a, scene->c->id, now), 3000, 10);
    assert_float_equal(caller_share(scene->b, scene->c->id, now), 10000, 20);
    assert_float_equal(caller_share(scene->b, scene->a->id, now), 0, 1e-9);
    assert_float_equal(caller_share(scene->c, 0, now), 0, 1e-9);
    // Nobody knows who called what is at the end of a stack that was cut.
    scene->cut = true;
    stack(scene, 2, (uintptr_t[]){0x1000, 0x1000});
    credit(scene, DOING_RAN, 500);
    assert_float_equal(caller_share(scene->a, 0, now), 500, 5);
}

static void test_more_callers_than_there_is_room_for(void **state)
{
    enum { MANY = 5 * SPLIT_PARTS };
    struct Scene *scene = *state;
    struct SplitRow rows[SPLIT_ROWS];
    double sum = 0, all = 0;
    size_t count;

    for (uint32_t i = 0; i < MANY; i++)
        Registry_add(scene->registry, make_code(10 + i, 0x100000 + 0x1000 * i));
    scene->newest_id = 10 + MANY;
    for (uint32_t round = 0; round < 20; round++)
        for (uint32_t i = 0; i < MANY; i++) {
            stack(scene, 2, (uintptr_t[]){0x1000, 0x100000 + 0x1000 * i});
            credit(scene, DOING_RAN, i == 7 ? 50000 : 1000);
            all += i == 7 ? 50000 : 1000;
        }
    count = Split_read(scene->a->share.callers, 1e9, rows);
    assert_int_equal(count, SPLIT_ROWS);
    assert_int_equal(rows[0].id, 17);
    assert_float_equal(rows[0].share * WHOLE, 1e6, 1e3);
    assert_int_equal(rows[count - 1].id, 0);
    for (size_t i = 0; i < count; i++)
        sum += rows[i].share * WHOLE;
    assert_float_equal(sum, all, all / 1000);
}

static void test_callers_of_dark_code_are_told_once(void **state)
{
    struct Scene *scene = *state;
    struct Edge edge;

    for (int i = 0; i < 5; i++) { // armed: its own hooks see them
        stack(scene, 2, (uintptr_t[]){0x1000, 0x2000});
        credit(scene, DOING_RAN, 10);
    }
    assert_false(Edges_pop(&scene->edges, &edge));
    scene->a->dark = true;
    stack(scene, 2, (uintptr_t[]){0x1000, 0x3000});
    credit(scene, DOING_RAN, 10); // once may be a mistake
    assert_false(Edges_pop(&scene->edges, &edge));
    for (int i = 0; i < 5; i++) {
        stack(scene, 2, (uintptr_t[]){0x1000, 0x3000});
        credit(scene, DOING_RAN, 10);
        stack(scene, 2, (uintptr_t[]){0x1000, 0x2000});
        credit(scene, DOING_WAITED, 10);
    }
    assert_true(Edges_pop(&scene->edges, &edge));
    assert_int_equal(edge.caller, scene->c->id);
    assert_int_equal(edge.callee, scene->a->id);
    assert_true(Edges_pop(&scene->edges, &edge));
    assert_int_equal(edge.caller, scene->b->id);
    assert_false(Edges_pop(&scene->edges, &edge));
}

static void test_time_in_c_is_a_part_of_running(void **state)
{
    struct Scene *scene = *state;

    scene->top.in_c = true;
    stack(scene, 2, (uintptr_t[]){0x1000, 0x2000});
    credit(scene, DOING_RAN, 100);
    credit(scene, DOING_WAITED, 50);
    assert_int_equal(Cell_get(&scene->a->share.in_c.total_ns), 100);
    assert_int_equal(Cell_get(&scene->b->share.in_c.total_ns), 0);
    // It was the frame on top that called, which is nobody's.
    stack(scene, 2, (uintptr_t[]){0x9000, 0x2000});
    credit(scene, DOING_RAN, 100);
    assert_int_equal(Cell_get(&scene->b->share.in_c.total_ns), 0);
}

// It waits where CPython takes the interpreter away: that is no waiting of the
// function's, nor is waiting for a CPU.
static void test_waiting_for_its_turn(void **state)
{
    struct Scene *scene = *state;
    struct ShareValue *queued = &scene->a->share.queued;
    uint64_t ready;

    stack(scene, 1, (uintptr_t[]){0x1000});
    credit(scene, DOING_RAN, 1000);
    credit(scene, DOING_WAITED, 100);
    assert_int_equal(Cell_get(&queued->total_ns), 0);
    credit(scene, DOING_READY, 200);
    ready = Cell_get(&scene->a->share.wait.total_ns) - 100;
    assert_true(ready > 0);
    assert_int_equal(Cell_get(&queued->total_ns), ready);
    credit(scene, DOING_IDLED, 300); // its clock has not moved: it still is
    assert_int_equal(Cell_get(&queued->total_ns), ready + 300);
    credit(scene, DOING_WAITED, 50);
    credit(scene, DOING_IDLED, 50);
    assert_int_equal(Cell_get(&queued->total_ns), ready + 300);
    ready += 300;
    scene->top.queued = true;
    stack(scene, 1, (uintptr_t[]){0x1000});
    credit(scene, DOING_WAITED, 400);
    credit(scene, DOING_IDLED, 800);
    assert_int_equal(Cell_get(&queued->total_ns), ready + 1200);
    assert_true(Cell_get(&scene->a->share.wait.total_ns) >= 1700);
}

static void test_a_threads_functions(void **state)
{
    struct Scene *scene = *state;
    struct SplitRow rows[SPLIT_ROWS];

    stack(scene, 2, (uintptr_t[]){0x1000, 0x2000});
    credit(scene, DOING_RAN, 100);
    stack(scene, 1, (uintptr_t[]){0x2000});
    credit(scene, DOING_RAN, 300);
    credit(scene, DOING_WAITED, 5000); // no CPU time
    stack(scene, 1, (uintptr_t[]){0x9000});
    credit(scene, DOING_RAN, 20);
    assert_int_equal(Split_read(&scene->subject.functions, 1e9, rows), 3);
    assert_int_equal(rows[0].id, scene->b->id);
    assert_int_equal(rows[1].id, scene->a->id);
    assert_int_equal(rows[2].id, 0);
    assert_float_equal(rows[0].share / rows[1].share, 3, 0.1);
}

static void test_hot_spots(void **state)
{
    struct Scene *scene = *state;
    struct Code *code = scene->a;
    struct Walk *walk = calloc(1, sizeof(*walk));
    const void *spots;

    // Instructions of 1, 3 and 2 units.
    code->unit_count = 6;
    code->units = Heap_zeroed(7, sizeof(*code->units));
    for (unsigned i = 0; i < 6; i++)
        code->units[i].number = i == 0 ? 0 : i < 4 ? 1 : 2;
    assert_int_equal(Code_spot_count(code), 3);
    scene->ledger.code_bytecode = 0x40;
    walk->depth = 2;
    walk->frames[0].code = 0x9000; // what it called is nobody's
    walk->frames[1].code = 0x1000;
    for (int offset = -4; offset < 16; offset += 2) {
        walk->frames[1].instruction = (uintptr_t)(0x1040 + offset);
        Subject_set_stack(&scene->subject, walk, scene->newest_id,
                          (struct SubjectTop){0});
        credit(scene, DOING_RAN, 100);
        credit(scene, DOING_WAITED, 100);
    }
    assert_int_equal(Code_spots(code)[0], 1);
    assert_int_equal(Code_spots(code)[1], 3);
    assert_int_equal(Code_spots(code)[2], 2);
    assert_true(Cell_get(&code->share.bytes) > sizeof(struct Split));
    spots = Code_spots(code);
    Heap_free(
        code->share.callers); // there was no memory for these: tried again
    code->share.callers = NULL;
    credit(scene, DOING_RAN, 100);
    assert_non_null(code->share.callers);
    assert_ptr_equal(Code_spots(code), spots); // and none is lost (make asan)
    free(walk);
}

static void test_retired_code_is_not_credited(void **state)
{
    struct Scene *scene = *state;

    stack(scene, 2, (uintptr_t[]){0x1000, 0x2000});
    Registry_retire(scene->registry, scene->a);
    assert_true(credit(scene, DOING_RAN, 10) == 10);
    assert_ns(scene->a, 0, 0, 0);
    assert_ns(scene->b, 10, 0, 10);
}

#define SCENE(name)                                                            \
    cmocka_unit_test_setup_teardown(name, set_scene, clear_scene)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_its_clocks),
        cmocka_unit_test(test_a_running_thread),
        cmocka_unit_test(test_a_sleeping_thread_idles),
        cmocka_unit_test(test_a_thread_that_ended),
        cmocka_unit_test(test_another_thread_with_its_number),
        cmocka_unit_test(test_a_thread_that_waits_for_our_cpu),
        cmocka_unit_test(test_whether_it_waits_for_cpus),
        cmocka_unit_test(test_whether_it_slept),
        SCENE(test_the_top_is_credited_and_all_below),
        SCENE(test_recursion_counts_once),
        SCENE(test_unknown_code_on_top_credits_its_caller),
        SCENE(test_unknown_code_all_the_way_credits_nobody),
        SCENE(test_waiting_for_a_cpu_is_waiting),
        SCENE(test_where_it_lost_its_cpu_says_little),
        SCENE(test_never_seen_running),
        SCENE(test_few_looks_prove_nothing),
        SCENE(test_the_clock_outweighs_the_looks),
        SCENE(test_who_woke_had_slept_before),
        SCENE(test_callers),
        SCENE(test_more_callers_than_there_is_room_for),
        SCENE(test_callers_of_dark_code_are_told_once),
        SCENE(test_time_in_c_is_a_part_of_running),
        SCENE(test_waiting_for_its_turn),
        SCENE(test_a_threads_functions),
        SCENE(test_hot_spots),
        SCENE(test_retired_code_is_not_credited),
        SCENE(test_who_came_later_is_not_credited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
