// SPDX-License-Identifier: MIT
// Tests tracer/sample/main_signals. The sampler's signal handler in another
// thread must not keep signals for the process from the main thread.
#define _GNU_SOURCE 1
#include "tracer/sample/main_signals.h"

#include "tests/sanitizers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit.h"

#define OURS (SIGRTMAX - 5)

static _Atomic pid_t taker; // Id of the thread that took the program's signal.
static _Atomic bool inside, go, done;

static void on_program_signal(int number)
{
    (void)number;
    taker = (pid_t)syscall(SYS_gettid);
}

static void on_ours(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    MainSignals_pass(context, getpid());
    inside = true;
}

static sigset_t both(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, OURS);
    sigaddset(&set, SIGUSR1);
    return set;
}

static void set_up(void)
{
    struct sigaction ours = {.sa_sigaction = on_ours, .sa_flags = SA_SIGINFO};
    struct sigaction program = {.sa_handler = on_program_signal};

    sigfillset(&ours.sa_mask);
    sigaction(OURS, &ours, NULL);
    sigaction(SIGUSR1, &program, NULL);
    inside = go = done = false;
    taker = 0;
}

static void block(int how)
{
    sigset_t set = both();

    pthread_sigmask(how, &set, NULL);
}

// Waits for `go` and handles both signals, first the sampler's signal, which
// was sent to this thread.
static void *handle_both(void *unused)
{
    sigset_t set = both();

    while (!go)
        sched_yield();
    pthread_kill(pthread_self(), OURS);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    done = true;
    return unused;
}

static pthread_t begin(void)
{
    pthread_t thread;

    if (UNDER_TSAN) // ThreadSanitizer delays signal handlers.
        skip();
    block(SIG_BLOCK);
    pthread_create(&thread, NULL, handle_both, NULL);
    return thread;
}

// After vfork(), the parent takes no signal until the child has ended, just
// like a thread that has no CPU.
TEST_WITH(test_the_main_thread_takes_it, set_up, NULL)
{
    pthread_t thread;
    pid_t child;

    // Valgrind makes a fork() of vfork(), so the parent goes on.
    if (UNDER_VALGRIND)
        skip();
    thread = begin();
    block(SIG_UNBLOCK);
    child = vfork();
    if (child == 0) {
        kill(getppid(), SIGUSR1);
        go = true;
        while (!done)
            syscall(SYS_sched_yield);
        _exit(0);
    }
    assert_true(child > 0 && inside);
    pthread_join(thread, NULL);
    assert_int_equal(taker, getpid());
}
