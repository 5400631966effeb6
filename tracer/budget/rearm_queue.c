// SPDX-License-Identifier: MIT
// Queues requests to install a function's hooks again (to arm it), up to a
// limit.
#include "tracer/budget/rearm_queue.h"

#include <string.h>

void RearmQueue_init(struct RearmQueue *rearm)
{
    memset(rearm, 0, sizeof *rearm);
    pthread_mutex_init(&rearm->mutex, NULL);
}

void RearmQueue_release(struct RearmQueue *rearm)
{
    pthread_mutex_destroy(&rearm->mutex);
}

static bool is_waiting(struct RearmQueue *rearm, uint64_t id, bool jumps)
{
    unsigned i;

    for (i = 0; i < rearm->count; i++)
        if (rearm->requests[i].id == id) {
            rearm->requests[i].jumps |= jumps;
            return true;
        }
    return false;
}

void RearmQueue_push(struct RearmQueue *rearm, uint64_t id, bool jumps)
{
    if (id > UINT32_MAX)
        return;
    pthread_mutex_lock(&rearm->mutex);
    if (id == 0)
        rearm->all = true;
    else if (!is_waiting(rearm, id, jumps)) {
        if (rearm->count == REARM_ROOM)
            rearm->all = true;
        else
            rearm->requests[rearm->count++] =
                (struct RearmRequest){(uint32_t)id, jumps};
    }
    pthread_mutex_unlock(&rearm->mutex);
}

int RearmQueue_pop(struct RearmQueue *rearm, struct RearmRequest *request)
{
    int taken = 1;

    pthread_mutex_lock(&rearm->mutex);
    if (rearm->all) {
        rearm->all = false;
        rearm->count = 0;
        *request = (struct RearmRequest){0};
    } else if (rearm->count) {
        *request = rearm->requests[--rearm->count];
    } else {
        taken = 0;
    }
    pthread_mutex_unlock(&rearm->mutex);
    return taken;
}
