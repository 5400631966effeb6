// SPDX-License-Identifier: MIT
// The hooks of all threads write their hits into one ring, in the order of
// their times. The dark table says which sites (places in bytecode) shall have
// no hook any more. A hook writes into the ring while its thread holds the GIL,
// so only one thread writes at a time. The thread that holds the counting lock
// (counting.h) reads the ring.
#pragma once

#include "tracer/hook/hit.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#define HIT_RING_HITS 4096u // Number of hits in the ring, which take 96 KiB.
// Number of keys in the dark table, which take 4 KiB. HIT_RING_HITS and
// HIT_RING_DARK are powers of two.
#define HIT_RING_DARK 512u
#define HIT_RING_AHEAD 16u

struct ThreadTrace;
#define HIT_RING_NOBODY ((const struct ThreadTrace *)1)
// Bit of HitRing.trace that is set while the counting thread sleeps.
#define HIT_RING_ASLEEP ((uintptr_t)1)

struct HitRing {
    // The hooks use the cache line of `head` while they hold the GIL. `head` is
    // the number of hits that were written, and is stored with release.
    _Alignas(64) _Atomic uint64_t head;
    // As long as `head` is below this number, a hook need not read `tail`.
    uint64_t limit;
    // The record of the thread that wrote the newest hit, or HIT_RING_NOBODY.
    // HIT_RING_NOBODY, or HIT_RING_ASLEEP in the address, makes the next hook
    // take the slow path. The thread that writes hits and HitRing_sleep set
    // `trace`.
    const struct ThreadTrace *_Atomic trace;
    // Address of the data stack chunk (CPython's memory for frames) of the
    // thread that wrote the newest hit.
    uintptr_t chunk;
    uint64_t last; // Ticks at the newest hit.
    // If at most this number of ticks has passed since `last`, the hook takes
    // the fast path.
    uint64_t brief;
    // `enter_brief` replaces `brief` for a hit that begins or resumes a call.
    uint64_t enter_brief;
    // Address of the code object whose calls begin the steps of asyncio's
    // tasks, or 0.
    uintptr_t task_code;
    // The counting thread writes the fields from `tail` on. `tail` is the
    // number of hits that were counted, and is stored with release.
    _Alignas(64) _Atomic uint64_t tail;
    // A hook posts this semaphore when the ring is half full. `half_full` is
    // NULL if no thread ever waits for it.
    sem_t *half_full;
    _Atomic bool asleep; // True if the next hit also posts `half_full`.
    // The keys (HitRing_key) of the sites that lose their hooks at their next
    // hit. The counting thread writes the keys in `dark`, and the hooks read
    // them. If another key overwrites a key, its site has further hits, and the
    // key is written again later.
    _Alignas(64) _Atomic uint64_t dark[HIT_RING_DARK];
    struct Hit hits[HIT_RING_HITS];
};

void HitRing_init(struct HitRing *ring, sem_t *half_full);
// A hook calls HitRing_find_room when `head` has reached `limit`.
// HitRing_find_room reads `tail` and sets `limit` again, and wakes the
// collector's thread if the ring is half full. Returns false if the ring is
// full.
bool HitRing_find_room(struct HitRing *ring);

// The collector's thread calls HitRing_sleep before a long sleep. `head` is the
// number of hits that the collector's thread has found. Returns false if a hook
// has written another hit since then. If HitRing_sleep returns true, the next
// hit wakes the collector's thread.
bool HitRing_sleep(struct HitRing *ring, uint64_t head);
// HitRing_wake wakes the collector's thread if it sleeps. A hook calls
// HitRing_wake after it has set `trace`. Other code calls HitRing_wake if there
// is other work for the collector's thread.
void HitRing_wake(struct HitRing *ring);

// Returns the record of the thread that wrote the newest hit, or NULL.
static inline const struct ThreadTrace *
HitRing_newest(const struct HitRing *ring)
{
    return (const struct ThreadTrace *)((uintptr_t)atomic_load(&ring->trace) &
                                        ~HIT_RING_ASLEEP);
}

static inline uint64_t HitRing_brief(const struct HitRing *ring,
                                     enum HitKind kind)
{
    return kind <= HIT_RESUME ? ring->enter_brief : ring->brief;
}

// Returns a key for a site and the kind of its event. A key is never 0.
static inline uint64_t HitRing_key(uint64_t who, size_t unit)
{
    return (who ^ (uint64_t)unit << 40) * UINT64_C(0x9e3779b97f4a7c15);
}

// Returns a hash of the site.
static inline uint32_t HitRing_site(uintptr_t code, size_t unit)
{
    return (uint32_t)(HitRing_key(code, unit) >> 32);
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

// Writes a hit into the ring. The caller has checked that the ring has room,
// which means that `head` is below `limit`.
static inline void HitRing_push(struct HitRing *ring, uint64_t ticks,
                                uint64_t who, uint64_t where)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

    ring->hits[head % HIT_RING_HITS] = (struct Hit){ticks, who, where};
    // The cache line of a later hit is still on the core of the counting
    // thread, which has read it.
    __builtin_prefetch(&ring->hits[(head + HIT_RING_AHEAD) % HIT_RING_HITS], 1);
    ring->last = ticks;
    // The release pairs with the acquire in count_ring.
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}
