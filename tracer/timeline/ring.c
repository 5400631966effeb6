// SPDX-License-Identifier: MIT
// The ring's slow side: its memory, what happens when it is full, and the
// consumer's end. Ring_push_slow runs on the producer's thread inside a hook;
// Ring_peek and Ring_pop on the consumer's.
#include "tracer/timeline/ring.h"
#include "ipc/base/heap.h"

#include <string.h>

#define HALF (RING_EVENTS / 2)

struct Ring *Ring_new(sem_t *half_full)
{
    struct Ring *ring = Heap_zeroed(1, sizeof *ring);

    if (!ring)
        return NULL;
    // Zeroed by the kernel as it is touched: an idle thread costs one page.
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

void Ring_clear(struct Ring *ring)
{
    atomic_store_explicit(&ring->head, 0, memory_order_relaxed);
    atomic_store_explicit(&ring->tail, 0, memory_order_relaxed);
    atomic_store_explicit(&ring->lost, 0, memory_order_relaxed);
    ring->limit = HALF;
    ring->gap = 0;
}

// Pairs with the release in Ring_pop: those slots have been read.
static uint64_t room_after(const struct Ring *ring, uint64_t head)
{
    return RING_EVENTS - head +
           atomic_load_explicit(&ring->tail, memory_order_acquire);
}

// While there is a gap to be marked, limit stays at head, so that every push
// comes here.
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
        // Pairs with the acquire in Timeline_drain, which compares it with
        // the gaps it has read.
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
        // sem_post takes no lock, and is a system call only if somebody waits.
        if (ring->half_full)
            sem_post(ring->half_full);
        ring->limit = head + room;
    }
    // Pairs with the acquire in Ring_peek.
    atomic_store_explicit(&ring->head, head, memory_order_release);
}

size_t Ring_peek(struct Ring *ring, const struct Event **events)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    // Pairs with the releases in Ring_push and Ring_push_slow.
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    size_t first = tail % RING_EVENTS;
    uint64_t count = head - tail;

    *events = &ring->events[first];
    return count < RING_EVENTS - first ? (size_t)count : RING_EVENTS - first;
}

void Ring_pop(struct Ring *ring, size_t count)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

    // Pairs with the acquire in Ring_push_slow.
    atomic_store_explicit(&ring->tail, tail + count, memory_order_release);
}
