// SPDX-License-Identifier: MIT
#include "tracer/sample/timer_slot.h"
#include "ipc/base/heap.h"

#define SLOTS_A_CHUNK 256u
#define CHUNKS 256u // At most 65 536 threads have a slot.

// `chunks` is global, because a signal handler gets no pointer to Ocular's
// data. Chunks of slots are never freed.
static struct TimerSlot *_Atomic chunks[CHUNKS];

struct TimerSlot *TimerSlot_find(uint32_t number)
{
    struct TimerSlot *chunk;

    if (number / SLOTS_A_CHUNK >= CHUNKS)
        return NULL;
    // This load pairs with the release in have_chunk.
    chunk = atomic_load_explicit(&chunks[number / SLOTS_A_CHUNK],
                                 memory_order_acquire);
    return chunk ? &chunk[number % SLOTS_A_CHUNK] : NULL;
}

// Returns the chunk of slots with this number, which is made if it does not
// exist. Returns NULL if there is no memory.
static struct TimerSlot *have_chunk(uint32_t number)
{
    struct TimerSlot *chunk =
        atomic_load_explicit(&chunks[number], memory_order_acquire);
    struct TimerSlot *fresh;

    if (chunk)
        return chunk;
    fresh = Heap_zeroed(SLOTS_A_CHUNK, sizeof(*fresh));
    if (!fresh ||
        atomic_compare_exchange_strong(&chunks[number], &chunk, fresh))
        return fresh;
    Heap_free(fresh); // Another thread has made this chunk first.
    return chunk;
}

bool TimerSlot_take(uint32_t *number)
{
    struct TimerSlot *chunk;

    for (uint32_t i = 0; i < CHUNKS && (chunk = have_chunk(i)); i++) {
        for (uint32_t j = 0; j < SLOTS_A_CHUNK; j++) {
            struct CpuTimer *nobody = NULL;

            if (atomic_load(&chunk[j].timer) || atomic_load(&chunk[j].busy) ||
                !atomic_compare_exchange_strong(&chunk[j].timer, &nobody,
                                                TIMER_CLAIMED))
                continue;
            *number = i * SLOTS_A_CHUNK + j;
            atomic_fetch_add(&chunk[j].generation, 1);
            return true;
        }
    }
    return false;
}

bool TimerSlots_are_idle(void)
{
    struct TimerSlot *slot;

    for (uint32_t i = 0; (slot = TimerSlot_find(i)); i++) {
        if (atomic_load(&slot->busy))
            return false;
    }
    return true;
}
