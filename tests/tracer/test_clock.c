// SPDX-License-Identifier: MIT
// Tests tracer/base/clock. The tests check the choice of the time stamp
// counter, its start, and changes of the rate by Clock_refine.
#include "ipc/base/now.h"
#include "tracer/base/clock.h"
#include "tracer/base/tsc_guard.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/rest.h"
#include "tests/unit.h"

// A reading of the counter, and the times right before and after it.
struct Moment {
    uint64_t from_ns, ticks, to_ns;
};

static struct Moment moment_of(const struct Clock *clock)
{
    struct Moment moment = {.from_ns = Now_ns(CLOCK_MONOTONIC_RAW)};

    moment.ticks = Clock_read(clock);
    moment.to_ns = Now_ns(CLOCK_MONOTONIC_RAW);
    return moment;
}

// The kernel's flag in /proc/cpuinfo agrees with CPUID.
TEST(test_counter_needs_an_invariant_tsc)
{
#if defined(__x86_64__)
    FILE *file = fopen("/proc/cpuinfo", "r");
    struct Clock clock;
    char line[8192];
    bool invariant = false;

    if (file == NULL)
        skip();
    while (!invariant && fgets(line, sizeof(line), file))
        invariant = strstr(line, " nonstop_tsc") != NULL;
    fclose(file);
    Clock_start(&clock);
    if (!invariant)
        assert_false(clock.counter);
    if (clock.counter)
        assert_true(invariant);
#else
    skip();
#endif
}

// Simulates a machine that has slept for a second while CLOCK_MONOTONIC_RAW
// stood still.
TEST(test_a_contradiction_is_dropped)
{
    struct Clock clock;
    double hz, error;

    Clock_start(&clock);
    if (!clock.counter)
        skip();
    hz = Clock_hz(&clock);
    error = Counter_get_double(&clock.error);
    clock.start_ticks -= (uint64_t)hz;
    rest_ms(20);
    Clock_refine(&clock);
    assert_true(Clock_hz(&clock) == hz);
    assert_true(Counter_get_double(&clock.error) == error);
    // The time stamp counter has started again from zero.
    clock.start_ticks += (uint64_t)(2e6 * hz);
    Clock_refine(&clock);
    assert_true(Clock_hz(&clock) == hz);
}

TEST(test_seconds_count_from_the_start)
{
    // The test reads the times before and after Clock_start() and the reading.
    uint64_t unix_from = Now_ns(CLOCK_REALTIME),
             raw_from = Now_ns(CLOCK_MONOTONIC_RAW), raw_to, unix_to;
    struct Clock clock;
    struct Moment now;
    double seconds;

    Clock_start(&clock);
    raw_to = Now_ns(CLOCK_MONOTONIC_RAW);
    unix_to = Now_ns(CLOCK_REALTIME);
    assert_true(clock.start_raw_ns >= raw_from && clock.start_raw_ns <= raw_to);
    assert_true(clock.start_unix_ns >= unix_from &&
                clock.start_unix_ns <= unix_to);
    assert_true(Clock_seconds(&clock, clock.start_ticks) == 0);
    assert_true(Clock_seconds(&clock, clock.start_ticks - 1000) < 0);
    rest_ms(20);
    now = moment_of(&clock);
    seconds = Clock_seconds(&clock, now.ticks);
    assert_true(seconds > (double)(now.from_ns - raw_to) * 0.995e-9);
    assert_true(seconds < (double)(now.to_ns - raw_from) * 1.005e-9);
}

TEST(test_without_a_counter_ticks_are_nanoseconds)
{
    struct Clock clock;
    uint64_t before = Now_ns(CLOCK_MONOTONIC_RAW), ticks;

    Clock_start(&clock);
    clock.counter = false;
    ticks = Clock_read(&clock);
    assert_true(ticks > before && ticks <= Now_ns(CLOCK_MONOTONIC_RAW));
    Clock_refine(&clock); // Without the counter, Clock_refine changes nothing.
}

// Returns the pid of a child, or 0 in the child. The child writes no core file,
// and has not the handler that cmocka has installed.
static pid_t fork_without_handler(void)
{
    const struct rlimit no_core = {0, 0};
    pid_t child = fork();

    if (child == 0) {
        setrlimit(RLIMIT_CORE, &no_core);
        signal(SIGSEGV, SIG_DFL);
    }
    return child;
}

#if defined(__x86_64__)

static void read_counter(int number)
{
    (void)number;
    Clock_counter();
}

static void send_signal(void)
{
    raise(SIGUSR1);
}

TEST(test_a_signal_arrives_while_the_guard_handles_a_fault)
{
    int status;
    pid_t child = fork_without_handler();

    if (child == 0) {
        signal(SIGUSR1, read_counter);
        TscGuard_start(send_signal);
        if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0)
            _exit(2);
        Clock_counter();
        _exit(TscGuard_has_tripped() ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
        skip();
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#endif

// The guard only handles faults that are caused by reading the time stamp
// counter.
TEST(test_a_segmentation_fault_that_was_sent_ends_the_process)
{
    int status;
    pid_t child = fork_without_handler();

    if (child == 0) {
        TscGuard_start(NULL);
        kill(getpid(), SIGSEGV);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}
