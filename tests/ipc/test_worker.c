// SPDX-License-Identifier: MIT
// Tests ipc/base/worker. Signals go to the program's own threads, the stack of
// a worker is small, and a worker can also start in a program that has much
// thread-local memory.
#define _GNU_SOURCE 1 // for pthread_getattr_np() and tgkill()
#include "ipc/base/worker.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit.h"

#define STACK (256u << 10)

struct Seen {
    sigset_t blocked;
    size_t stack;
    _Atomic bool hold;
    _Atomic pid_t tid;
    int value;
};

static void look(void *context)
{
    struct Seen *seen = context;
    pthread_attr_t attributes;

    pthread_sigmask(SIG_SETMASK, NULL, &seen->blocked);
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstacksize(&attributes, &seen->stack);
    pthread_attr_destroy(&attributes);
    seen->tid = gettid();
    while (seen->hold)
        usleep(1000);
    seen->value = 42;
}

static atomic_int prepared_by;

static void prepare(void)
{
    // If Worker_start did not wait, it would return long before this function
    // ends.
    usleep(20000);
    prepared_by = gettid();
}

// The worker prepares itself before Worker_start returns, because later there
// might be no memory.
TEST(test_what_it_prepares)
{
    struct Seen seen = {.value = 0};
    struct Worker worker = {.prepare = prepare};

    for (int i = 0; i < 2; i++) {
        prepared_by = 0;
        assert_int_equal(
            Worker_start(&worker, "ocular-test", look, &seen, STACK), 0);
        assert_true(prepared_by != 0 && prepared_by != gettid());
        Worker_join(&worker);
        assert_int_equal(seen.tid, prepared_by);
    }
}

static void toil(void *done)
{
    struct timespec used = {0};

    while (used.tv_nsec < 20000000)
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    *(atomic_bool *)done = true;
}

// The worker's CPU time is known after the worker has ended, both before and
// after it is joined.
TEST(test_its_time_stays)
{
    atomic_bool done = false;
    struct Worker worker = {0};
    uint64_t before, after;

    for (int round = 1; round <= 2; round++) {
        done = false;
        assert_int_equal(
            Worker_start(&worker, "ocular-test", toil, &done, STACK), 0);
        while (!done)
            usleep(1000);
        usleep(50000); // time for the thread to end
        before = Worker_cpu_ns(&worker);
        Worker_join(&worker);
        after = Worker_cpu_ns(&worker);
        assert_true(before >= (uint64_t)round * 20000000);
        assert_true(after - before < 1000000);
    }
}

TEST(test_all_signals_are_blocked_there_and_none_here)
{
    struct Seen seen = {.value = 0};
    sigset_t mine, before, after;
    struct Worker worker = {0};

    sigemptyset(&mine);
    sigaddset(&mine, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &mine, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_int_equal(Worker_start(&worker, "ocular-test", look, &seen, STACK),
                     0);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    Worker_join(&worker);
    for (int s = 1; s <= SIGRTMAX; s++) {
        assert_int_equal(sigismember(&before, s), sigismember(&after, s));
        if (s == SIGKILL || s == SIGSTOP || (s >= 32 && s < SIGRTMIN))
            continue; // Such signals cannot be blocked, or belong to glibc.
        assert_int_equal(sigismember(&seen.blocked, s), 1);
    }
    sigemptyset(&mine);
    pthread_sigmask(SIG_SETMASK, &mine, NULL);
}
