// SPDX-License-Identifier: MIT
// Implements those functions of the ring that are not called for each event.
// The thread that pushes events calls Ring_push_slow. The thread that takes
// events calls Ring_peek and Ring_pop.
#include "tracer/timeline/ring.h"
#include "ipc/base/heap.h"

#define HALF (RING_EVENTS / 2)

struct Ring *Ring_new(sem_t *half_full)
{
    struct Ring *ring = Heap_zeroed(1, sizeof *ring);

    if (!ring)
        return NULL;
    // The kernel provides a zeroed page when it is first used, so the ring of
    // an idle thread takes only one page of memory.
    ring->events = Heap_zeroed(RING_EVENTS, sizeof *ring->events);
    if (!ring->events) {
        Heap_free(ring);
        return NULL;
    }
    ring->half_full = half_full;
    ring->limit = HALF;
    return ring;
}

void Ring_free(struct Ring *ring)
{
    if (!ring)
        return;
    Heap_free(ring->events);
    Heap_free(ring);
}

// Returns the number of free slots in the ring. This load of `tail` pairs with
// the release in Ring_pop, which comes after the slots were read.
static uint64_t room_after(const struct Ring *ring, uint64_t head)
{
    return RING_EVENTS - head +
           atomic_load_explicit(&ring->tail, memory_order_acquire);
}

// `limit` stays equal to `head` as long as a gap (dropped events) must be
// marked, so that each push calls Ring_push_slow.
void Ring_push_slow(struct Ring *ring, struct Event event)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint64_t needed = ring->gap ? 2 : 1, room = room_after(ring, head);

    if (room < needed && ring->overflow && ring->overflow->drain) {
        ring->overflow->drain(ring->overflow->context, ring->producer);
        room = room_after(ring, head);
    }
    if (room < needed) {
        uint64_t lost = atomic_load_explicit(&ring->lost, memory_order_relaxed);

        ring->gap++;
        // The release pairs with the acquire in Timeline_drain, which compares
        // `lost` with the sum of the gaps that Timeline_drain has read.
        atomic_store_explicit(&ring->lost, lost + 1, memory_order_release);
        return;
    }
    if (ring->gap) {
        struct Event gap = {Event_when(Event_ticks(&event), EVENT_LOST),
                            ring->gap};

        ring->events[head++ % RING_EVENTS] = gap;
        ring->gap = 0;
    }
    ring->events[head++ % RING_EVENTS] = event;
    room = room_after(ring, head);
    if (room > HALF) {
        ring->limit = head + room - HALF;
    } else {
        // sem_post takes no lock, and makes a system call only if a thread
        // waits.
        if (ring->half_full)
            sem_post(ring->half_full);
        ring->limit = head + room;
    }
    // The release pairs with the acquire in Ring_peek.
    atomic_store_explicit(&ring->head, head, memory_order_release);
}

size_t Ring_peek(struct Ring *ring, const struct Event **events)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    // This load pairs with the releases in Ring_push and Ring_push_slow.
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    size_t first = tail % RING_EVENTS;
    uint64_t count = head - tail;

    *events = &ring->events[first];
    return count < RING_EVENTS - first ? (size_t)count : RING_EVENTS - first;
}

void Ring_pop(struct Ring *ring, size_t count)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

    // The release pairs with the acquire in Ring_push_slow.
    atomic_store_explicit(&ring->tail, tail + count, memory_order_release);
}
