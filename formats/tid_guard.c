// SPDX-License-Identifier: MIT
// The guard is a hash table with open addressing, whose keys are thread ids.
// The number of entries of the guard never changes.
#include "formats/tid_guard.h"
#include "ipc/base/heap.h"

#include <errno.h>

int TidGuard_init(struct TidGuard *guard, size_t count)
{
    size_t places = 4;

    while (places < 2 * count)
        places *= 2;
    guard->mask = places - 1;
    guard->places = Heap_zeroed(places, sizeof *guard->places);
    return guard->places ? 0 : -ENOMEM;
}

void TidGuard_release(struct TidGuard *guard)
{
    Heap_free(guard->places);
    guard->places = NULL;
}

uint64_t *TidGuard_time(struct TidGuard *guard, pid_t tid)
{
    // No hash function is needed, because the kernel assigns ids in sequence.
    size_t at = (size_t)tid & guard->mask;

    while (guard->places[at].tid && guard->places[at].tid != tid)
        at = (at + 1) & guard->mask;
    guard->places[at].tid = tid;
    return &guard->places[at].ticks;
}
