// SPDX-License-Identifier: MIT
#include "tracer/sample/sample_ring.h"

#include <string.h>

#define HEAD_WORDS (sizeof(struct SampleHead) / sizeof(uint64_t))

_Static_assert(sizeof(struct SampleHead) % sizeof(uint64_t) == 0, "words");
_Static_assert(sizeof(struct WalkFrame) == 2 * sizeof(uint64_t), "words");

static void write_words(struct SampleRing *ring, uint64_t at, const void *from,
                        size_t count)
{
    size_t start = at % SAMPLE_RING_WORDS;
    size_t first = SAMPLE_RING_WORDS - start;

    if (first > count)
        first = count;
    memcpy(ring->words + start, from, first * sizeof(uint64_t));
    memcpy(ring->words, (const uint64_t *)from + first,
           (count - first) * sizeof(uint64_t));
}

static void read_words(const struct SampleRing *ring, uint64_t at, void *to,
                       size_t count)
{
    size_t start = at % SAMPLE_RING_WORDS;
    size_t first = SAMPLE_RING_WORDS - start;

    if (first > count)
        first = count;
    memcpy(to, ring->words + start, first * sizeof(uint64_t));
    memcpy((uint64_t *)to + first, ring->words,
           (count - first) * sizeof(uint64_t));
}

bool SampleRing_push(struct SampleRing *ring, const struct SampleHead *head,
                     const struct WalkFrame *frames, const uintptr_t *native)
{
    uint64_t at = Counter_own(&ring->pushed);
    size_t first = HEAD_WORDS + 2 * (size_t)head->depth;
    size_t count = first + head->native_depth;

    // This load pairs with the release in SampleRing_pop.
    if (at + count - atomic_load_explicit(&ring->popped, memory_order_acquire) >
        SAMPLE_RING_WORDS) {
        Counter_add(&ring->lost, 1);
        return false;
    }
    write_words(ring, at, head, HEAD_WORDS);
    write_words(ring, at + HEAD_WORDS, frames, 2 * (size_t)head->depth);
    write_words(ring, at + first, native, head->native_depth);
    // This store pairs with the acquire in SampleRing_pop.
    atomic_store_explicit(&ring->pushed, at + count, memory_order_release);
    return true;
}

bool SampleRing_pop(struct SampleRing *ring, struct SampleHead *head,
                    struct WalkFrame *frames, uintptr_t *native)
{
    uint64_t at = Counter_own(&ring->popped);
    size_t first;

    // This load pairs with the release in SampleRing_push.
    if (atomic_load_explicit(&ring->pushed, memory_order_acquire) == at)
        return false;
    read_words(ring, at, head, HEAD_WORDS);
    first = HEAD_WORDS + 2 * (size_t)head->depth;
    read_words(ring, at + HEAD_WORDS, frames, 2 * (size_t)head->depth);
    read_words(ring, at + first, native, head->native_depth);
    // This store pairs with the acquire in SampleRing_push.
    atomic_store_explicit(&ring->popped, at + first + head->native_depth,
                          memory_order_release);
    return true;
}
