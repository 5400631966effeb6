// SPDX-License-Identifier: MIT
// Functions that somebody wants re-armed: viewers' requests on their way to
// the governor, which alone may talk to the interpreter. A mutex, held
// briefly.
#ifndef OCULAR_TRACER_BUDGET_REARM_QUEUE_H
#define OCULAR_TRACER_BUDGET_REARM_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define REARM_ROOM 256 // requests that can wait; more of them mean "all"

struct RearmRequest {
    uint32_t id; // 0 = all
    bool jumps;  // somebody looks at its code: its jumps and branches, too
};

struct RearmQueue {
    pthread_mutex_t mutex;
    bool all;
    unsigned count;
    struct RearmRequest requests[REARM_ROOM];
};

void RearmQueue_init(struct RearmQueue *rearm);
void RearmQueue_release(struct RearmQueue *rearm);
// A request for all functions has the id 0. A request that waits already
// changes nothing, nor does one that cannot be an id.
void RearmQueue_push(struct RearmQueue *rearm, uint64_t id, bool jumps);
// Takes one request: 1 and *request, or 0. "All" clears the others.
int RearmQueue_pop(struct RearmQueue *rearm, struct RearmRequest *request);

#endif
