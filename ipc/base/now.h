// SPDX-License-Identifier: MIT
// Reads the kernel's clocks. Any thread may call these functions, which are
// async-signal-safe.
#pragma once

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

// Returns the time of a clock in ns, or 0 if the clock does not exist. Returns
// 1 if the clock exists and reads 0. A new thread's CPU clock can read 0 if a
// hypervisor has taken the CPU away (1 of 12 000 threads on a virtual machine).
static inline uint64_t Now_ns(clockid_t clock)
{
    struct timespec now;
    uint64_t ns;

    if (clock_gettime(clock, &now) != 0)
        return 0;
    ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return ns ? ns : 1;
}

// Converts a time in ns to the struct that the kernel and glibc use.
static inline struct timespec Now_timespec(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000u),
                             (long)(ns % 1000000000u)};
}

// Returns the time that CLOCK_MONOTONIC will have in `ms` milliseconds.
static inline struct timespec Now_in_ms(uint64_t ms)
{
    return Now_timespec(Now_ns(CLOCK_MONOTONIC) + ms * 1000000u);
}

static inline double Now_s(clockid_t clock)
{
    return (double)Now_ns(clock) / 1e9;
}

// Returns the kernel's CPU clock of the thread with this id
// (linux/posix-timers.h: CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED). Unlike
// Now_clock_of(), pthread_getcpuclockid() needs a pthread_t, which becomes
// invalid when the thread ends. If the thread has ended, reading the returned
// clock fails.
static inline clockid_t Now_clock_of(pid_t tid)
{
    return (clockid_t)(~(unsigned)tid << 3 | 6);
}
