// SPDX-License-Identifier: MIT
// Holds requests to install the hooks of functions again (to arm them).
// Requests of viewers wait in the queue for the governor, because only the
// governor may call the interpreter. A mutex guards the queue, and is held only
// briefly.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

// Number of requests that can wait. If the queue is full, a request for all
// functions replaces the waiting requests.
#define REARM_ROOM 256

struct RearmRequest {
    uint32_t id; // Id of the function, or 0 for all functions.
    // True if a viewer shows the function's code, so that the function's jumps
    // and branches get hooks, too.
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
// request that already waits in the queue is not added again. A number that
// cannot be a function's id is ignored.
void RearmQueue_push(struct RearmQueue *rearm, uint64_t id, bool jumps);
// Moves one request from the queue to *request and returns 1. Returns 0 if the
// queue is empty. Taking a request for all functions removes all other
// requests.
int RearmQueue_pop(struct RearmQueue *rearm, struct RearmRequest *request);
