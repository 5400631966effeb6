// SPDX-License-Identifier: MIT
// tracer/sample/timer_signal on real threads: which threads have a signal
// blocked, by their own reports and by the kernel; also while it waits with
// another mask, as a program's thread that takes all signals does.
#define _GNU_SOURCE 1 // gettid, ppoll
#include "tracer/sample/timer_signal.h"

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define LOOKS 10
#define SIGNAL (SIGRTMAX - 3)

// A thread that blocks the signal or does not, and waits in a system call.
struct Waiter {
    bool blocks;
    void (*wait)(const sigset_t *all, const sigset_t *none);
    sem_t begun;
    pid_t tid;
    pthread_t thread;
};

static void wait_for_signals(const sigset_t *all, const sigset_t *none)
{
    (void)none;
    while (sigwaitinfo(all, NULL) != SIGUSR1)
        continue;
}

static void wait_in_poll(const sigset_t *all, const sigset_t *none)
{
    (void)all, (void)none;
    ppoll(NULL, 0, NULL, NULL);
}

static void wait_in_masked_poll(const sigset_t *all, const sigset_t *none)
{
    (void)all;
    ppoll(NULL, 0, NULL, none);
}

static void wait_in_masked_select(const sigset_t *all, const sigset_t *none)
{
    (void)all;
    pselect(0, NULL, NULL, NULL, NULL, none);
}

static void wait_in_suspend(const sigset_t *all, const sigset_t *none)
{
    (void)all;
    sigsuspend(none);
}

static void wait_in_sleep(const sigset_t *all, const sigset_t *none)
{
    (void)all, (void)none;
    usleep(60000000);
}

static void on_signal(int number)
{
    (void)number;
}

static void *run(void *argument)
{
    struct Waiter *waiter = argument;
    sigset_t all, none;

    sigfillset(&all);
    sigemptyset(&none);
    if (waiter->blocks)
        pthread_sigmask(SIG_BLOCK, &all, NULL);
    waiter->tid = gettid();
    sem_post(&waiter->begun);
    waiter->wait(&all, &none);
    return NULL;
}

// Until it waits in a system call, but for one.
static void come_to_rest(pid_t tid, int but)
{
    char path[64], text[128];
    int number = 0;

    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", tid);
    while (number == 0 || number == but) {
        FILE *file = fopen(path, "r");

        assert_non_null(file);
        if (!fgets(text, sizeof text, file) || sscanf(text, "%d", &number) != 1)
            number = 0;
        fclose(file);
    }
}

// Whether the signal counts as blocked after so many looks.
static bool is_muted_after(int looks, bool blocks,
                           void (*wait)(const sigset_t *, const sigset_t *))
{
    struct Waiter waiter = {.blocks = blocks, .wait = wait};
    struct Mute mute;

    Mute_init(&mute);
    assert_true(Mute_is_on(&mute));
    sem_init(&waiter.begun, 0, 0);
    pthread_create(&waiter.thread, NULL, run, &waiter);
    while (sem_wait(&waiter.begun))
        continue;
    come_to_rest(waiter.tid, SYS_futex); // the semaphore's
    for (int i = 0; i < looks; i++)
        Mute_read(&mute, waiter.tid, SIGNAL);
    pthread_kill(waiter.thread, SIGUSR1);
    pthread_join(waiter.thread, NULL);
    sem_destroy(&waiter.begun);
    return Mute_is_on(&mute);
}

static void test_who_waits(void **state)
{
    (void)state;
    assert_false(is_muted_after(1, false, wait_in_sleep));
    assert_false(is_muted_after(1, false, wait_in_poll)); // with its own mask
    // The kernel shows all of these with the signal not blocked.
    assert_true(is_muted_after(LOOKS, true, wait_for_signals));
    assert_true(is_muted_after(LOOKS, true, wait_in_masked_poll));
    assert_true(is_muted_after(LOOKS, true, wait_in_masked_select));
    assert_true(is_muted_after(LOOKS, true, wait_in_suspend));
}

static void block(int how)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGNAL);
    pthread_sigmask(how, &set, NULL);
}

static void *look_at(void *argument)
{
    struct Mute *mute = argument;

    come_to_rest(getpid(), 0); // the main thread, which joins this one
    Mute_read(mute, getpid(), SIGNAL);
    return NULL;
}

static void look(struct Mute *mute)
{
    pthread_t thread;

    pthread_create(&thread, NULL, look_at, mute);
    pthread_join(thread, NULL);
}

// Blocked without a word it is found at once, unblocked not before it is sure.
static void test_what_is_not_said(void **state)
{
    struct Mute mute;

    (void)state;
    Mute_init(&mute);
    look(&mute);
    assert_false(Mute_is_on(&mute));
    block(SIG_BLOCK);
    look(&mute);
    assert_true(Mute_is_on(&mute));
    block(SIG_UNBLOCK);
    look(&mute);
    assert_true(Mute_is_on(&mute));
    for (int i = 0; i < LOOKS; i++)
        look(&mute);
    assert_false(Mute_is_on(&mute));
}

static void test_what_is_said(void **state)
{
    struct Mute mute;

    (void)state;
    Mute_init(&mute);
    assert_false(Mute_say(&mute, SIGNAL));
    block(SIG_BLOCK);
    assert_true(TimerSignal_is_blocked(SIGNAL));
    assert_true(Mute_say(&mute, SIGNAL));
    look(&mute);
    assert_true(Mute_is_on(&mute));
    block(SIG_UNBLOCK);
    assert_false(TimerSignal_is_blocked(SIGNAL));
    assert_false(Mute_say(&mute, SIGNAL));
    assert_false(Mute_is_on(&mute));
}

static void test_what_was_sent(void **state)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                             .sigev_signo = SIGNAL};
    const struct itimerspec soon = {.it_value = {0, 1}};
    sigset_t pending;
    timer_t timer;

    (void)state;
    block(SIG_BLOCK);
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    timer_settime(timer, 0, &soon, NULL);
    do
        sigpending(&pending);
    while (!sigismember(&pending, SIGNAL));
    TimerSignal_take_back(SIGNAL);
    sigpending(&pending);
    assert_false(sigismember(&pending, SIGNAL));
    raise(SIGNAL); // is the program's
    TimerSignal_take_back(SIGNAL);
    sigpending(&pending);
    assert_true(sigismember(&pending, SIGNAL));
    block(SIG_UNBLOCK);
    timer_delete(timer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_waits),
        cmocka_unit_test(test_what_is_not_said),
        cmocka_unit_test(test_what_is_said),
        cmocka_unit_test(test_what_was_sent),
    };

    signal(SIGUSR1, on_signal);
    signal(SIGNAL, on_signal);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
