// SPDX-License-Identifier: MIT
// tracer/base/tsc_guard in children that lose the right to read the counter,
// and that a fault of another kind ends a process as it would have.
#define _GNU_SOURCE 1 // syscall
#include "tracer/base/tsc_guard.h"

#include "tests/sanitizers.h"
#include "tracer/base/clock.h"
#include "tracer/base/own_text.h"

#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#if defined(__x86_64__)

static int trips;

static void on_trip(void)
{
    trips++;
}

// The wait status of a child that ends with what `check` returns.
static int status_of(int (*check)(void))
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);   // cmocka has one
        syscall(SYS_exit, check()); // the one way out of strict mode
    }
    waitpid(pid, &status, 0);
    return status;
}

static void expect_exit(int (*check)(void))
{
    int status = status_of(check);

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void expect_signal(int (*check)(void))
{
    int status = status_of(check);

    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
}

static int read_twice(void)
{
    if (Clock_counter() != 0 || !TscGuard_has_tripped() || trips != 1)
        return 2;
    return Clock_counter() == 0 && trips == 1 ? 0 : 3;
}

static int in_strict_mode(void)
{
    TscGuard_start(on_trip);
    if (Clock_counter() == 0 || TscGuard_has_tripped())
        return 1;
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    return read_twice();
}

static int without_the_counter(void)
{
    TscGuard_start(on_trip);
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    return read_twice();
}

static void test_the_counter_is_taken_away(void **state)
{
    (void)state;
    if (UNDER_ASAN || UNDER_TSAN)
        skip(); // their runtimes have a handler
    expect_exit(in_strict_mode);
    expect_exit(without_the_counter);
}

static int use_null(void)
{
    volatile int *nowhere =
        mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    TscGuard_start(on_trip);
    return *nowhere;
}

static int be_sent_one(void)
{
    TscGuard_start(on_trip);
    kill(getpid(), SIGSEGV);
    return 0;
}

// An instruction of somebody else's, in memory that is none of our text.
static int read_elsewhere(void)
{
    static const unsigned char code[] = {0x0f, 0x31, 0xc3}; // rdtsc; ret
    unsigned char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    TscGuard_start(on_trip);
    for (size_t i = 0; i < sizeof code; i++)
        at[i] = code[i];
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    ((void (*)(void))at)();
    return 0;
}

static int after_its_end(void)
{
    TscGuard_start(on_trip);
    TscGuard_stop();
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    Clock_counter();
    return 0;
}

static void test_other_faults(void **state)
{
    (void)state;
    if (UNDER_ASAN || UNDER_TSAN)
        skip();
    expect_signal(use_null);
    expect_signal(be_sent_one);
    expect_signal(read_elsewhere);
    expect_signal(after_its_end);
}

static void on_programs(int number)
{
    (void)number;
    _exit(0);
}

// Before and after it.
static int with_a_handler(void)
{
    struct sigaction action;

    signal(SIGSEGV, on_programs);
    TscGuard_start(on_trip);
    sigaction(SIGSEGV, NULL, &action);
    if (action.sa_handler != on_programs)
        return 1;
    TscGuard_stop();
    sigaction(SIGSEGV, NULL, &action);
    if (action.sa_handler != on_programs)
        return 2;
    signal(SIGSEGV, SIG_DFL);
    TscGuard_start(on_trip);
    signal(SIGSEGV, on_programs);
    TscGuard_stop();
    sigaction(SIGSEGV, NULL, &action);
    return action.sa_handler == on_programs ? 0 : 3;
}

static void test_the_programs_handler_stays(void **state)
{
    (void)state;
    expect_exit(with_a_handler);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
        cmocka_unit_test(test_the_counter_is_taken_away),
        cmocka_unit_test(test_other_faults),
        cmocka_unit_test(test_the_programs_handler_stays),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
