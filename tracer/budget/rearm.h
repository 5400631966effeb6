// SPDX-License-Identifier: MIT
// Functions that somebody wants re-armed: viewers' requests on their way to
// the governor, which alone may talk to the interpreter. A mutex, held
// briefly.
#ifndef OCULAR_TRACER_BUDGET_REARM_H
#define OCULAR_TRACER_BUDGET_REARM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define REARM_ROOM 256 // requests that can wait; more of them mean "all"

struct Rearm {
    pthread_mutex_t mutex;
    bool all;
    unsigned count;
    uint32_t ids[REARM_ROOM];
};

void Rearm_init(struct Rearm *rearm);
void Rearm_release(struct Rearm *rearm);
// 0 = all. What waits already, and what cannot be an id, changes nothing.
void Rearm_push(struct Rearm *rearm, uint64_t id);
// Takes one request: 1 and *id, or 0. "All" is *id 0 and clears the others.
int Rearm_pop(struct Rearm *rearm, uint32_t *id);

#endif
