// SPDX-License-Identifier: MIT
// Lists the numbers of threads that have ended. The list is bounded and keeps
// the threads that used the most CPU time. The caller locks the list.
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
    // The sampler fills these fields. The list of thread records leaves these
    // fields 0.
    struct ShareValue cpu;
    struct ShareValue wait;
    struct ShareValue gil_held, gil_waited;
    uint64_t samples;
};

struct Ended {
    struct EndedThread threads[ENDED_ROOM];
    size_t count;
    uint64_t dropped; // number of threads that were left out because the list
                      // was full
};

void Ended_add(struct Ended *ended, const struct EndedThread *thread);
// Moves the thread with this id and this name from the list into `thread`.
// Returns false if the thread is not in the list. A thread that still runs may
// be in the list, if the sampler did not see the thread for a while.
bool Ended_take(struct Ended *ended, pid_t tid, const char *name,
                struct EndedThread *thread);

#endif
