// SPDX-License-Identifier: MIT
// Keeps for each thread id of the kernel the time up to which events have been
// written. The kernel uses thread ids again. The events of a thread must not be
// earlier than the events of an earlier thread with the same thread id. A
// writer of a timeline owns the guard and uses it on one thread.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct TidTime {
    pid_t tid; // Thread id, or 0 if the entry is free.
    uint64_t ticks;
};

struct TidGuard {
    struct TidTime *places;
    // Number of entries minus 1. The number of entries is a power of 2.
    size_t mask;
};

// Makes a guard for `count` threads. Returns 0 or -ENOMEM.
int TidGuard_init(struct TidGuard *guard, size_t count);
void TidGuard_release(struct TidGuard *guard);
// Returns a pointer to the time, in ticks, up to which events of the thread id
// have been written. The time is 0 for a new thread id.
uint64_t *TidGuard_time(struct TidGuard *guard, pid_t tid);
