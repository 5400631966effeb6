// SPDX-License-Identifier: MIT
// The queue of requests to re-arm.
#include "tracer/budget/rearm.h"

#include <string.h>

void Rearm_init(struct Rearm *rearm)
{
    memset(rearm, 0, sizeof *rearm);
    pthread_mutex_init(&rearm->mutex, NULL);
}

void Rearm_release(struct Rearm *rearm)
{
    pthread_mutex_destroy(&rearm->mutex);
}

static bool is_waiting(struct Rearm *rearm, uint64_t id, bool jumps)
{
    unsigned i;

    for (i = 0; i < rearm->count; i++)
        if (rearm->requests[i].id == id) {
            rearm->requests[i].jumps |= jumps;
            return true;
        }
    return false;
}

void Rearm_push(struct Rearm *rearm, uint64_t id, bool jumps)
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

int Rearm_pop(struct Rearm *rearm, struct RearmRequest *request)
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
