// SPDX-License-Identifier: MIT
// Threads that have ended, so that their numbers do not end with them: a
// bounded list, of those that used the most CPU time. The caller locks.
#ifndef OCULAR_TRACER_BASE_ENDED_H
#define OCULAR_TRACER_BASE_ENDED_H

#include "tracer/base/share.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define ENDED_ROOM 100

struct EndedThread {
    pid_t tid;
    char name[64];
    uint64_t cpu_ns;
    // In the sampler's list; 0 in the list of thread records.
    struct ShareValue cpu;
    struct ShareValue wait;
    uint64_t samples;
};

struct Ended {
    struct EndedThread threads[ENDED_ROOM];
    size_t count;
    uint64_t dropped; // for want of room
};

void Ended_add(struct Ended *ended, const struct EndedThread *thread);
// A thread that was not seen for a while, and had not ended: takes it out.
bool Ended_take(struct Ended *ended, pid_t tid, const char *name,
                struct EndedThread *thread);

#endif
