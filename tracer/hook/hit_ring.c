// SPDX-License-Identifier: MIT
#include "tracer/hook/hit_ring.h"

#define HALF (HIT_RING_HITS / 2)

void HitRing_init(struct HitRing *ring, sem_t *half_full)
{
    size_t i;

    atomic_init(&ring->head, 0);
    atomic_init(&ring->tail, 0);
    for (i = 0; i < HIT_RING_DARK; i++)
        atomic_init(&ring->dark[i], 0);
    ring->limit = HALF;
    ring->trace = HIT_RING_NOBODY;
    atomic_init(&ring->asleep, false);
    ring->chunk = ring->task_code = 0;
    ring->last = ring->brief = ring->enter_brief = 0;
    ring->half_full = half_full;
}

bool HitRing_find_room(struct HitRing *ring)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    // This load of `tail` pairs with the release in count_ring, after which the
    // slots before `tail` are free.
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);

    if (head - tail == HIT_RING_HITS)
        return false;
    if (head - tail < HALF) {
        ring->limit = tail + HALF;
        return true;
    }
    // sem_post takes no lock, and makes a system call only if a thread waits.
    if (ring->half_full)
        sem_post(ring->half_full);
    ring->limit = tail + HIT_RING_HITS;
    return true;
}

// A hook that finds HIT_RING_ASLEEP in `trace` sets `trace` and then calls
// HitRing_wake. A hook that runs at the same moment as HitRing_sleep might
// still read the old `trace`. The counting thread then sleeps although there is
// a hit, until the next hit wakes the counting thread.
bool HitRing_sleep(struct HitRing *ring, uint64_t head)
{
    const struct ThreadTrace *newest = atomic_load(&ring->trace);
    const struct ThreadTrace *asleep =
        (const struct ThreadTrace *)((uintptr_t)newest | HIT_RING_ASLEEP);

    atomic_store(&ring->asleep, true);
    if (atomic_compare_exchange_strong(&ring->trace, &newest, asleep) &&
        atomic_load(&ring->head) == head)
        return true;
    atomic_store(&ring->asleep, false);
    return false;
}

void HitRing_wake(struct HitRing *ring)
{
    if (atomic_load(&ring->asleep) && atomic_exchange(&ring->asleep, false) &&
        ring->half_full)
        sem_post(ring->half_full);
}
