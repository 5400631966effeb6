// SPDX-License-Identifier: MIT
// The time up to which a native thread id has been written: the kernel uses ids
// again, and the next thread's events must not be earlier than those of the
// one before. Whoever writes a timeline; one thread.
#ifndef OCULAR_TRACER_TIMELINE_ENDS_H
#define OCULAR_TRACER_TIMELINE_ENDS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct End {
    pid_t tid; // 0: a free place
    uint64_t ticks;
};

struct Ends {
    struct End *places;
    size_t mask; // places - 1, a power of two
};

// For `count` threads. 0 or -ENOMEM.
int Ends_init(struct Ends *ends, size_t count);
void Ends_release(struct Ends *ends);
// Where that thread's time is kept; 0 ticks when it is new.
uint64_t *Ends_of(struct Ends *ends, pid_t tid);

#endif
