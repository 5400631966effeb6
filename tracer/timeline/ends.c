// SPDX-License-Identifier: MIT
// A hash table by thread id, open addressing, made large enough at once.
#include "tracer/timeline/ends.h"
#include "ipc/base/heap.h"

#include <errno.h>

int Ends_init(struct Ends *ends, size_t count)
{
    size_t places = 4;

    while (places < 2 * count)
        places *= 2;
    ends->mask = places - 1;
    ends->places = Heap_zeroed(places, sizeof *ends->places);
    return ends->places ? 0 : -ENOMEM;
}

void Ends_release(struct Ends *ends)
{
    Heap_free(ends->places);
    ends->places = NULL;
}

uint64_t *Ends_of(struct Ends *ends, pid_t tid)
{
    size_t at = (size_t)tid & ends->mask; // ids are given out in turn

    while (ends->places[at].tid && ends->places[at].tid != tid)
        at = (at + 1) & ends->mask;
    ends->places[at].tid = tid;
    return &ends->places[at].ticks;
}
