// SPDX-License-Identifier: MIT
// Keeps the times and numbers of threads that have ended. The length of the
// list is limited, and the list keeps the threads that used the most CPU time.
// The caller locks the list.
#pragma once

#include "tracer/base/share.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define ENDED_ROOM 100

struct EndedThread {
    pid_t tid;
    char name[64];
    uint64_t cpu_ns;
    // The sampler fills in `cpu` and the fields below it. A list that the
    // sampler does not own has 0 in these fields.
    struct ShareValue cpu;
    struct ShareValue wait;
    struct ShareValue gil_held, gil_waited;
    uint64_t ready_ns; // GilThread.ready_ns
    uint64_t samples;
};

struct Ended {
    struct EndedThread threads[ENDED_ROOM];
    size_t count;
    // Number of threads that are not in the list because it was full.
    uint64_t dropped;
};

void Ended_add(struct Ended *ended, const struct EndedThread *thread);
// Takes the thread with the id `tid` and the name `name` out of the list, and
// stores it in *thread. Returns false if the list has no thread with this id
// and name. A thread that still runs can be in the list if the sampler did not
// see the thread for a while.
bool Ended_take(struct Ended *ended, pid_t tid, const char *name,
                struct EndedThread *thread);
