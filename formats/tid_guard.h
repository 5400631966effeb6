// SPDX-License-Identifier: MIT
// The time up to which a native thread id has been written: the kernel uses ids
// again, and the next thread's events must not be earlier than those of the
// one before. For a writer of a timeline; one thread.
#ifndef OCULAR_FORMATS_TID_GUARD_H
#define OCULAR_FORMATS_TID_GUARD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct TidTime {
    pid_t tid; // 0: a free place
    uint64_t ticks;
};

struct TidGuard {
    struct TidTime *places;
    size_t mask; // places - 1, a power of two
};

// For `count` threads. 0 or -ENOMEM.
int TidGuard_init(struct TidGuard *guard, size_t count);
void TidGuard_release(struct TidGuard *guard);
// The place of that thread's time; 0 ticks when it is new.
uint64_t *TidGuard_time(struct TidGuard *guard, pid_t tid);

#endif
