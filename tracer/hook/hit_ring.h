// SPDX-License-Identifier: MIT
// The hooks of all threads write their hits into this ring in the order of
// time. A table tells the hooks which sites have gone dark. A hook writes while
// its thread holds the GIL, so there is one producer at a time. The consumer is
// the thread that holds the counting lock (counting.h).
#ifndef OCULAR_TRACER_HOOK_HIT_RING_H
#define OCULAR_TRACER_HOOK_HIT_RING_H

#include "tracer/hook/hit.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#define HIT_RING_HITS 4096u // 96 KiB
#define HIT_RING_DARK 512u  // 4 KiB; all HIT_RING_* are powers of two
#define HIT_RING_AHEAD 16u

struct ThreadTrace;
#define HIT_RING_NOBODY ((const struct ThreadTrace *)1)

struct HitRing {
    // The hooks use this cache line while they hold the GIL. `head` is the
    // number of hits that were written, and is stored with release.
    _Alignas(64) _Atomic uint64_t head;
    // While `head` is below this number, `tail` need not be read.
    uint64_t limit;
    // The record of the thread that wrote the newest hit. HIT_RING_NOBODY makes
    // the next hit take the slow path. The producer and HitRing_sleep write
    // this field.
    const struct ThreadTrace *_Atomic trace;
    uintptr_t chunk; // data stack chunk of the thread that wrote the newest hit
    uint64_t last;   // ticks of the newest hit
    // A hook takes the fast path if its hit comes at most this number of ticks
    // after `last`.
    uint64_t brief;
    // For a hit that begins or resumes a call, this limit replaces `brief`.
    uint64_t enter_brief;
    // The address of the code object that begins tasks' steps, or 0.
    uintptr_t task_code;
    // The consumer owns the next fields. `tail` is the number of hits that were
    // counted, and is stored with release.
    _Alignas(64) _Atomic uint64_t tail;
    // The producer posts this semaphore when the ring is half full. NULL if no
    // thread ever waits.
    sem_t *half_full;
    _Atomic bool asleep; // true if the next hit also posts `half_full`
    // The keys (HitRing_key) of sites that are to be disabled at their next
    // hit. The consumer writes the keys, and the hooks read them. If a key is
    // overwritten by another key, its site has further hits, so the key is
    // written again later.
    _Alignas(64) _Atomic uint64_t dark[HIT_RING_DARK];
    struct Hit hits[HIT_RING_HITS];
};

void HitRing_init(struct HitRing *ring, sem_t *half_full);
// The producer calls this function when `head` has reached `limit`.
// HitRing_find_room reads `tail` and sets `limit` again, and wakes the
// collector if the ring is half full. Returns false if the ring is full.
bool HitRing_find_room(struct HitRing *ring);

// The consumer calls this function before a long sleep. `head` is the number of
// hits that the consumer has found. Returns false if there is a newer hit. If
// the result is true, the next hit wakes the consumer.
bool HitRing_sleep(struct HitRing *ring, uint64_t head);
// Wakes the consumer if it sleeps. The producer calls HitRing_wake after it has
// set `trace`. Other code calls HitRing_wake if the consumer has other work to
// do.
void HitRing_wake(struct HitRing *ring);

static inline uint64_t HitRing_brief(const struct HitRing *ring,
                                     enum HitKind kind)
{
    return kind <= HIT_RESUME ? ring->enter_brief : ring->brief;
}

// Returns the key of a site and an event kind. 0 is not a key.
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

// Writes a hit. The ring must have room, which means that `head` is below
// `limit`.
static inline void HitRing_push(struct HitRing *ring, uint64_t ticks,
                                uint64_t who, uint64_t where)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

    ring->hits[head % HIT_RING_HITS] = (struct Hit){ticks, who, where};
    // This cache line is on the core of the counting thread, which has read it.
    __builtin_prefetch(&ring->hits[(head + HIT_RING_AHEAD) % HIT_RING_HITS], 1);
    ring->last = ticks;
    // This store pairs with the acquire in count_ring.
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

#endif
