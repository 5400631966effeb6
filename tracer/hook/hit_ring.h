// SPDX-License-Identifier: MIT
// The ring into which the hooks of all threads write their hits, in the order
// in which they came, and the table by which a hook sees which sites have gone
// dark. The hooks push with the interpreter's lock held, so that there is one
// producer at a time; the thread that holds the counting lock (counting.h) is
// the consumer.
#ifndef OCULAR_TRACER_HOOK_HIT_RING_H
#define OCULAR_TRACER_HOOK_HIT_RING_H

#include "tracer/hook/hit.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#define HIT_RING_HITS 4096u // 96 KiB
#define HIT_RING_DARK 512u  // 4 KiB; both powers of two
#define HIT_RING_AHEAD 16u

struct ThreadTrace;
#define HIT_RING_NOBODY ((const struct ThreadTrace *)1)

struct HitRing {
    // The hooks' line, with the interpreter's lock.
    _Alignas(64) _Atomic uint64_t head; // hits ever written; release.
    uint64_t limit; // head may grow up to here with no look at tail.
    // Of the newest hit's thread; or HIT_RING_NOBODY, so that the next hit
    // takes the slow path. The producer's, and HitRing_sleep's.
    const struct ThreadTrace *_Atomic trace;
    uintptr_t chunk;      // of the data stack that this ran on.
    uint64_t last;        // ticks of the newest hit.
    uint64_t brief;       // ticks after it in which a hit needs no questions,
    uint64_t enter_brief; // ... and in which a call that begins needs none.
    uintptr_t task_code;  // of the function that begins tasks' steps; 0: none.
    // The consumer's.
    _Alignas(64) _Atomic uint64_t tail; // release, read by the producer
    sem_t *half_full;                   // posted when it is; NULL: nobody comes
    _Atomic bool asleep; // it is to be posted at the next hit, too
    // Keys (HitRing_key) of sites that are to be disabled at their next hit.
    // The consumer writes, the hooks read. One that was overwritten is written
    // again, since its site goes on to be hit.
    _Alignas(64) _Atomic uint64_t dark[HIT_RING_DARK];
    struct Hit hits[HIT_RING_HITS];
};

void HitRing_init(struct HitRing *ring, sem_t *half_full);
// head has reached limit: looks for room, and wakes up the thread that counts
// if the ring is half full. false: it is full. The producer.
bool HitRing_find_room(struct HitRing *ring);

// The consumer is about to sleep for long, unless there was a hit since the
// head was there: false. Else the next hit wakes it up.
bool HitRing_sleep(struct HitRing *ring, uint64_t head);
// The producer, after it has set `trace`, or somebody who has something else to
// wake it up for.
void HitRing_wake(struct HitRing *ring);

static inline uint64_t HitRing_brief(const struct HitRing *ring,
                                     enum HitKind kind)
{
    return kind <= HIT_RESUME ? ring->enter_brief : ring->brief;
}

// The key of a site and an event; 0 is no key.
static inline uint64_t HitRing_key(uint64_t who, size_t unit)
{
    return (who ^ (uint64_t)unit << 40) * UINT64_C(0x9e3779b97f4a7c15);
}

static inline _Atomic uint64_t *HitRing_dark_at(struct HitRing *ring,
                                                uint64_t key)
{
    return &ring->dark[key >> 55];
}

_Static_assert(HIT_RING_DARK == 1u << (64 - 55), "of the key's highest bits");

static inline bool HitRing_is_dark(struct HitRing *ring, uint64_t key)
{
    return atomic_load_explicit(HitRing_dark_at(ring, key),
                                memory_order_relaxed) == key;
}

static inline void HitRing_darken(struct HitRing *ring, uint64_t key)
{
    atomic_store_explicit(HitRing_dark_at(ring, key), key,
                          memory_order_relaxed);
}

// There is room: head is below limit.
static inline void HitRing_push(struct HitRing *ring, uint64_t ticks,
                                uint64_t who, uint64_t where)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

    ring->hits[head % HIT_RING_HITS] = (struct Hit){ticks, who, where};
    // The counting thread has read those lines on another core.
    __builtin_prefetch(&ring->hits[(head + HIT_RING_AHEAD) % HIT_RING_HITS], 1);
    ring->last = ticks;
    // Pairs with the acquire in count_ring.
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

#endif
