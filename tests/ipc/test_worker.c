// SPDX-License-Identifier: MIT
// ipc/base/worker: signals stay with the program's own threads, the stack is
// small, and a program with much thread-local memory gets its thread too.
#define _GNU_SOURCE 1 // pthread_getattr_np, tgkill
#include "ipc/base/worker.h"

#include "tests/cage.h"

#include <grp.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

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

static void test_runs_with_its_context(void **state)
{
    struct Seen seen = {.value = 0};
    struct Worker worker = {0};

    (void)state;
    assert_int_equal(Worker_start(&worker, "ocular-test", look, &seen, STACK),
                     0);
    Worker_join(&worker);
    assert_int_equal(seen.value, 42);
}

static atomic_int prepared_by;

static void prepare(void)
{
    usleep(20000); // a starter that did not wait would be long gone
    prepared_by = gettid();
}

// By the thread, and before its start returns: memory may be out after that.
static void test_what_it_prepares(void **state)
{
    struct Seen seen = {.value = 0};
    struct Worker worker = {.prepare = prepare};

    (void)state;
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

// Its CPU time is known between its end and its join, and after that.
static void test_its_time_stays(void **state)
{
    atomic_bool done = false;
    struct Worker worker = {0};
    uint64_t before, after;

    (void)state;
    for (int round = 1; round <= 2; round++) {
        done = false;
        assert_int_equal(
            Worker_start(&worker, "ocular-test", toil, &done, STACK), 0);
        while (!done)
            usleep(1000);
        usleep(50000); // it has ended
        before = Worker_cpu_ns(&worker);
        Worker_join(&worker);
        after = Worker_cpu_ns(&worker);
        assert_true(before >= (uint64_t)round * 20000000);
        assert_true(after - before < 1000000);
    }
}

static void test_all_signals_are_blocked_there_and_none_here(void **state)
{
    struct Seen seen = {.value = 0};
    sigset_t mine, before, after;
    struct Worker worker = {0};

    (void)state;
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
            continue; // cannot be, or glibc's own
        assert_int_equal(sigismember(&seen.blocked, s), 1);
    }
    sigemptyset(&mine);
    pthread_sigmask(SIG_SETMASK, &mine, NULL);
}

static _Atomic pid_t handled_on;

static void handle(int number)
{
    (void)number;
    handled_on = gettid();
}

// The kernel gives a process's signal to any thread that takes it.
static void test_a_signal_is_handled_by_the_program(void **state)
{
    struct Seen seen = {.hold = true};
    struct sigaction action = {.sa_handler = handle};
    struct Worker worker = {0};

    (void)state;
    sigaction(SIGUSR1, &action, NULL);
    assert_int_equal(Worker_start(&worker, "ocular-test", look, &seen, STACK),
                     0);
    while (!seen.tid)
        usleep(1000);
    for (int i = 0; i < 20; i++) {
        handled_on = 0;
        kill(getpid(), SIGUSR1);
        while (!handled_on)
            usleep(100);
        assert_int_equal(handled_on, gettid());
    }
    seen.hold = false;
    Worker_join(&worker);
}

static void test_the_stack_is_small(void **state)
{
    struct Seen seen = {.value = 0};
    struct Worker worker = {0};

    (void)state;
    assert_int_equal(
        Worker_start(&worker, "ocular-test", look, &seen, 12 * STACK), 0);
    Worker_join(&worker);
    assert_int_equal(seen.stack, 12 * STACK);
}

// --- Rights

#define CHANGE_USERS 0xc0 // CAP_SETGID and CAP_SETUID: see worker.c

static unsigned long long capabilities(pid_t tid)
{
    char path[64], line[128];
    unsigned long long found = ~0ull;
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)tid);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "CapPrm: %llx", &found) == 1)
            break;
    if (file)
        fclose(file);
    return found;
}

static void test_it_has_no_capabilities(void **state)
{
    unsigned long long mine = capabilities(gettid());
    struct Seen seen = {.hold = true};
    struct Worker worker = {0};

    (void)state;
    if (!(mine & ~CHANGE_USERS) || prctl(PR_GET_SECCOMP))
        skip();
    assert_int_equal(Worker_start(&worker, "ocular-test", look, &seen, STACK),
                     0);
    while (!seen.tid)
        usleep(1000);
    assert_int_equal(capabilities(seen.tid), mine & CHANGE_USERS);
    assert_int_equal(capabilities(gettid()), mine);
    seen.hold = false;
    Worker_join(&worker);
}

// glibc has all threads do it, and aborts where they are not of one mind.
static int become_nobody(void)
{
    struct Seen seen = {.hold = true};
    struct Worker worker = {0};

    Worker_start(&worker, "ocular-test", look, &seen, STACK);
    while (!seen.tid)
        usleep(1000);
    setgroups(0, NULL); // a container may refuse it, to all
    if (setgid(getgid()) || setuid(65534) || capabilities(seen.tid))
        return 1;
    seen.hold = false;
    Worker_join(&worker);
    return 0;
}

static void test_the_program_may_give_up_root(void **state)
{
    int status = -1;
    pid_t pid;

    (void)state;
    if (geteuid())
        skip();
    pid = fork();
    if (pid == 0)
        _exit(become_nobody());
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

static int ask_for_capabilities(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct held[2];

    syscall(SYS_capget, &header, held);
    return 0;
}

static int start_one(void)
{
    struct Worker worker = {0};
    struct Seen seen = {.value = 0};
    int error = Worker_start(&worker, "ocular-test", look, &seen, STACK);

    Worker_join(&worker);
    return error;
}

static void test_dropping_them_is_nobodys_end(void **state)
{
    const int calls[] = {SYS_capget, SYS_capset};
    const uint32_t answer = SECCOMP_RET_KILL_PROCESS;
    int status = wait_for_caged(calls, 2, answer, ask_for_capabilities);

    (void)state;
    if (!WIFSIGNALED(status))
        skip(); // there are no filters here
    status = wait_for_caged(calls, 2, answer, start_one);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_with_its_context),
        cmocka_unit_test(test_what_it_prepares),
        cmocka_unit_test(test_its_time_stays),
        cmocka_unit_test(test_all_signals_are_blocked_there_and_none_here),
        cmocka_unit_test(test_a_signal_is_handled_by_the_program),
        cmocka_unit_test(test_the_stack_is_small),
        cmocka_unit_test(test_it_has_no_capabilities),
        cmocka_unit_test(test_the_program_may_give_up_root),
        cmocka_unit_test(test_dropping_them_is_nobodys_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
