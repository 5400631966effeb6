// SPDX-License-Identifier: MIT
// Holds for each native thread id the time up to which events have been
// written. The kernel reuses ids. Events of the later thread with an id must
// not be earlier than events of the earlier thread. A writer of a timeline uses
// the guard on one thread.
#ifndef OCULAR_FORMATS_TID_GUARD_H
#define OCULAR_FORMATS_TID_GUARD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct TidTime {
    pid_t tid; // 0: the entry is free
    uint64_t ticks;
};

struct TidGuard {
    struct TidTime *places;
    size_t mask; // number of entries - 1, all bits set
};

// Makes room for `count` threads. Returns 0 or -ENOMEM.
int TidGuard_init(struct TidGuard *guard, size_t count);
void TidGuard_release(struct TidGuard *guard);
// Returns a pointer to the thread's time, which is 0 ticks for a new id.
uint64_t *TidGuard_time(struct TidGuard *guard, pid_t tid);

#endif
