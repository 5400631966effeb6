// SPDX-License-Identifier: MIT
// The time of one of the kernel's clocks. Any thread; async-signal-safe.
#ifndef OCULAR_IPC_BASE_NOW_H
#define OCULAR_IPC_BASE_NOW_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

// ns; 0 if there is no such clock (any more). The clock of a thread that has
// run for a moment only may stand at 0 while it sleeps, if a host had the CPU
// meanwhile (one in 12 000 on a virtual machine): it reads 1.
static inline uint64_t Now_ns(clockid_t clock)
{
    struct timespec now;
    uint64_t ns;

    if (clock_gettime(clock, &now) != 0)
        return 0;
    ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return ns ? ns : 1;
}

static inline double Now_s(clockid_t clock)
{
    return (double)Now_ns(clock) / 1e9;
}

// The kernel's clock of a thread's CPU time, by its id (linux/posix-timers.h:
// CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED). pthread_getcpuclockid would need a
// pthread_t, which dangles once the thread has ended; this clock just fails.
static inline clockid_t Now_clock_of(pid_t tid)
{
    return (clockid_t)(~(unsigned)tid << 3 | 6);
}

#endif
