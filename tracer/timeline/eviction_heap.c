// SPDX-License-Identifier: MIT
// A binary heap, the oldest on top. An age that is out of date is too old, so
// only the top one has to be right; it is brought up to date there.
#include "tracer/timeline/eviction_heap.h"
#include "ipc/base/heap.h"

#include <errno.h>

#define FIRST_ROOM 16u

void EvictionHeap_release(struct EvictionHeap *heap)
{
    Heap_free(heap->tracks);
    *heap = (struct EvictionHeap){0};
}

size_t EvictionHeap_bytes(const struct EvictionHeap *heap)
{
    return heap->room * sizeof *heap->tracks;
}

static void put(struct EvictionHeap *heap, size_t place, struct Track *track)
{
    heap->tracks[place] = track;
    track->place = place;
}

static void move_up(struct EvictionHeap *heap, struct Track *track)
{
    size_t place = track->place;

    for (; place > 1 && heap->tracks[place / 2]->age > track->age; place /= 2)
        put(heap, place, heap->tracks[place / 2]);
    put(heap, place, track);
}

static void move_down(struct EvictionHeap *heap, struct Track *track)
{
    size_t place = track->place, child;

    for (; (child = 2 * place) <= heap->count; place = child) {
        if (child < heap->count &&
            heap->tracks[child + 1]->age < heap->tracks[child]->age)
            child++;
        if (heap->tracks[child]->age >= track->age)
            break;
        put(heap, place, heap->tracks[child]);
    }
    put(heap, place, track);
}

int EvictionHeap_add(struct EvictionHeap *heap, struct Track *track)
{
    if (heap->count + 1 >= heap->room) {
        size_t room = heap->room ? 2 * heap->room : FIRST_ROOM;
        struct Track **tracks =
            Heap_resize(heap->tracks, room * sizeof *heap->tracks);

        if (!tracks)
            return -ENOMEM;
        heap->tracks = tracks;
        heap->room = room;
    }
    track->age = Chunk_last_ticks(Track_resident(track));
    put(heap, ++heap->count, track);
    move_up(heap, track);
    return 0;
}

void EvictionHeap_remove(struct EvictionHeap *heap, struct Track *track)
{
    struct Track *last;

    if (!track->place)
        return;
    last = heap->tracks[heap->count--];
    if (last != track) {
        last->place = track->place;
        move_up(heap, last);
        move_down(heap, last);
    }
    track->place = 0;
}

struct Track *EvictionHeap_oldest(struct EvictionHeap *heap)
{
    for (;;) {
        struct Track *track = heap->count ? heap->tracks[1] : NULL;
        uint64_t age = track ? Chunk_last_ticks(Track_resident(track)) : 0;

        if (!track || age <= track->age)
            return track;
        track->age = age;
        move_down(heap, track);
    }
}
