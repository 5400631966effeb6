// SPDX-License-Identifier: MIT
#include "tracer/base/ended.h"

#include <string.h>

static struct EndedThread *least(struct Ended *ended)
{
    struct EndedThread *least = &ended->threads[0];

    for (size_t i = 1; i < ended->count; i++)
        if (ended->threads[i].cpu_ns < least->cpu_ns)
            least = &ended->threads[i];
    return least;
}

void Ended_add(struct Ended *ended, const struct EndedThread *thread)
{
    struct EndedThread *slot;

    if (ended->count < ENDED_ROOM) {
        ended->threads[ended->count++] = *thread;
        return;
    }
    ended->dropped++;
    slot = least(ended);
    // If two threads have equal CPU times, the thread that ended later stays in
    // the list.
    if (slot->cpu_ns <= thread->cpu_ns)
        *slot = *thread;
}

bool Ended_take(struct Ended *ended, pid_t tid, const char *name,
                struct EndedThread *thread)
{
    for (size_t i = 0; i < ended->count; i++) {
        struct EndedThread *slot = &ended->threads[i];

        if (slot->tid != tid || strcmp(slot->name, name) != 0)
            continue;
        *thread = *slot;
        *slot = ended->threads[--ended->count];
        return true;
    }
    return false;
}
