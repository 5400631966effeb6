// SPDX-License-Identifier: MIT
// Holds requests to arm functions again. Viewers' requests wait in this queue
// for the governor, because only the governor may call the interpreter. A mutex
// guards the queue and is held briefly.
#ifndef OCULAR_TRACER_BUDGET_REARM_QUEUE_H
#define OCULAR_TRACER_BUDGET_REARM_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

// Number of requests that can wait; one more request means "all functions".
#define REARM_ROOM 256

struct RearmRequest {
    uint32_t id; // id of the function; 0 for all functions
    // true if a viewer shows the code, so that jumps and branches are armed,
    // too
    bool jumps;
};

struct RearmQueue {
    pthread_mutex_t mutex;
    bool all;
    unsigned count;
    struct RearmRequest requests[REARM_ROOM];
};

void RearmQueue_init(struct RearmQueue *rearm);
void RearmQueue_release(struct RearmQueue *rearm);
// Adds a request for the function `id`, or for all functions if `id` is 0. A
// request that already waits is not added again. A number that cannot be an id
// is ignored.
void RearmQueue_push(struct RearmQueue *rearm, uint64_t id, bool jumps);
// Moves one request from the queue to *request and returns 1. Returns 0 if no
// request waits. A request for all functions removes all other requests.
int RearmQueue_pop(struct RearmQueue *rearm, struct RearmRequest *request);

#endif
