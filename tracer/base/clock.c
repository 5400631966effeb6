// SPDX-License-Identifier: MIT
#include "tracer/base/clock.h"
#include "ipc/base/now.h"
#include "ipc/base/opened.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define CALIBRATION_NS 5000000u
#define TRIES 16

// A reading of the time stamp counter and a reading of CLOCK_MONOTONIC_RAW. At
// most `error` ticks have passed between the two readings.
struct Pair {
    uint64_t ticks;
    uint64_t raw_ns;
    double error;
};

uint64_t Clock_fallback(void)
{
    return Now_ns(CLOCK_MONOTONIC_RAW);
}

// Makes several pairs, and returns the pair with the fewest ticks between its
// two readings of the time stamp counter. An interrupt between the two readings
// makes the number of ticks larger. If the thread moves to another core between
// the two readings, the number of ticks can be negative. A negative number of
// ticks becomes a huge unsigned number, so such a pair is not chosen.
static struct Pair read_pair(void)
{
    uint64_t tightest = UINT64_MAX;
    struct Pair pair = {0, 0, INFINITY};

    for (unsigned i = 0; i < TRIES; i++) {
        uint64_t before = Clock_counter();
        uint64_t raw_ns = Clock_fallback();
        uint64_t width = Clock_counter() - before;

        if (width >= tightest)
            continue;
        tightest = width;
        pair.ticks = before + width / 2;
        pair.raw_ns = raw_ns;
        pair.error = (double)width / 2 + 1;
    }
    return pair;
}

#if defined(__x86_64__)
// Reads the only line of a file in sysfs into `line`. Returns false if the file
// cannot be read.
static bool read_line(const char *path, char line[256])
{
    if (Opened_read(path, line, 256) <= 0)
        return false;
    line[strcspn(line, "\n")] = '\0';
    return true;
}

static bool has_word(const char *line, const char *word)
{
    size_t size = strlen(word);

    while (*line) {
        size_t length = strcspn(line, " ");

        if (length == size && memcmp(line, word, size) == 0)
            return true;
        line += length;
        line += strspn(line, " ");
    }
    return false;
}

// The kernel removes the TSC from its available clock sources if the TSCs of
// the cores disagree. The TSC can be correct even if the kernel prefers another
// clock source, for example kvm-clock in a virtual machine.
static bool kernel_distrusts_tsc(void)
{
    static const char current[] =
        "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    static const char available[] =
        "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    char line[256];

    if (!read_line(current, line) || has_word(line, "tsc"))
        return false;
    return read_line(available, line) && !has_word(line, "tsc");
}

static bool has_counter(void)
{
    unsigned a, b, c, d;

    // In leaf 0x80000007, bit 8 of EDX says that the TSC has the same rate in
    // every power state.
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
        return false;
    return !kernel_distrusts_tsc();
}
#elif defined(__aarch64__)
static bool has_counter(void)
{
    return true; // The architecture (aarch64) guarantees a constant rate.
}
#else
static bool has_counter(void)
{
    return false;
}
#endif

static void sleep_until(uint64_t ns)
{
    struct timespec when = Now_timespec(ns);

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) ==
           EINTR)
        ;
}

// Returns the rate of the time stamp counter that the CPU reports, or NaN if
// the CPU reports no rate.
static double stated_hz(void)
{
#if defined(__aarch64__)
    uint64_t hz;

    __asm__("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz ? (double)hz : NAN;
#else
    return NAN;
#endif
}

// Returns the rate of the time stamp counter between two pairs, in ticks per
// second, and stores the relative error bound of this rate in `error`.
static double rate(const struct Pair *from, const struct Pair *to,
                   double *error)
{
    double ticks = (double)(to->ticks - from->ticks);
    double ns = (double)(to->raw_ns - from->raw_ns);

    *error = INFINITY;
    if (to->ticks <= from->ticks || to->raw_ns <= from->raw_ns)
        return NAN;
    // CLOCK_MONOTONIC_RAW counts whole nanoseconds.
    *error = (from->error + to->error) / ticks + 2 / ns;
    return ticks * 1e9 / ns;
}

// Measures the rate of the time stamp counter. Returns false if the measured
// rate is implausible or inexact.
static bool calibrate(struct Clock *clock)
{
    struct Pair from = read_pair(), to;
    double hz, error, stated = stated_hz();

    clock->start_unix_ns = Now_ns(CLOCK_REALTIME);
    clock->start_ticks = from.ticks;
    clock->start_raw_ns = from.raw_ns;
    clock->start_error = from.error;
    sleep_until(Now_ns(CLOCK_MONOTONIC) + CALIBRATION_NS);
    to = read_pair();
    hz = rate(&from, &to, &error);
    if (!(hz > 1e5 && hz < 1e11 && error < 0.01))
        return false;
    if (fabs(stated / hz - 1) < error)
        hz = stated;
    Counter_set_double(&clock->hz, hz);
    Counter_set_double(&clock->error, error);
    return true;
}

void Clock_start(struct Clock *clock)
{
    memset(clock, 0, sizeof(*clock));
    clock->counter = has_counter() && calibrate(clock);
    if (clock->counter)
        return;
    clock->start_raw_ns = Clock_fallback();
    clock->start_ticks = clock->start_raw_ns;
    clock->start_unix_ns = Now_ns(CLOCK_REALTIME);
    clock->start_error = 0;
    Counter_set_double(&clock->hz, 1e9);
    Counter_set_double(&clock->error, 0);
}

void Clock_refine(struct Clock *clock)
{
    struct Pair from = {clock->start_ticks, clock->start_raw_ns,
                        clock->start_error};
    struct Pair to;
    double hz, error, before = Counter_get_double(&clock->error);

    if (!clock->counter)
        return;
    to = read_pair();
    hz = rate(&from, &to, &error);
    if (!(error < before) || fabs(hz / Clock_hz(clock) - 1) > error + before)
        return;
    Counter_set_double(&clock->hz, hz);
    Counter_set_double(&clock->error, error);
}

double Clock_hz(const struct Clock *clock)
{
    return Counter_get_double(&clock->hz);
}

double Clock_seconds(const struct Clock *clock, uint64_t ticks)
{
    return (double)(int64_t)(ticks - clock->start_ticks) / Clock_hz(clock);
}
