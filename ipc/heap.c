// SPDX-License-Identifier: MIT
// Slabs of 64 KiB, each of blocks of one size, and a mapping of its own for
// what is larger. See heap.h. A block finds its slab by its address: slabs and
// mappings begin at multiples of 64 KiB. Under a sanitizer it is malloc, which
// the sanitizer watches.
#include "ipc/heap.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||           \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OF_MALLOC 1
#else
#define OF_MALLOC 0
#endif

#define ALIGNED 64
#define SLAB ((size_t)64 << 10)
#define PAGE ((size_t)4 << 10)
#define STEP ((size_t)16)         // of the small sizes
#define SMALL ((size_t)256)       // up to here
#define LARGEST ((size_t)8 << 10) // of a slab's; an eighth of a doubling a step
#define SMALL_SIZES (SMALL / STEP)
#define SIZES (SMALL_SIZES + 5 * 8)
#define SPARES 4 // empty slabs that are not given back

struct Slab {
    struct Slab *next,
        *previous;  // of the same size, with room; or of the spares
    void *freed;    // a list through the blocks' first words
    size_t block;   // bytes of each; of a mapping: that it holds
    uint32_t used;  // blocks
    uint32_t fresh; // bytes from the beginning on that were ever used
    _Alignas(ALIGNED) char blocks[];
};

// There is one malloc in a process, and one of this.
static struct {
    pthread_mutex_t mutex; // of all that follows; taken last
    struct Slab *roomy[SIZES];
    struct Slab *spares;
    size_t spare_count;
    size_t bytes;
} heap = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static size_t number_of(size_t size)
{
    size_t doubling;

    if (size <= SMALL)
        return size ? (size - 1) / STEP : 0;
    doubling = (size_t)(63 - __builtin_clzll(size - 1)); // 8: up to 512
    return SMALL_SIZES + (doubling - 8) * 8 +
           ((size - 1) >> (doubling - 3)) % 8;
}

static size_t size_of(size_t number)
{
    size_t step;

    if (number < SMALL_SIZES)
        return (number + 1) * STEP;
    number -= SMALL_SIZES;
    step = SMALL << (number / 8) >> 3;
    return (8 + number % 8 + 1) * step;
}

static struct Slab *slab_of(const void *memory)
{
    return (struct Slab *)((uintptr_t)memory & ~(SLAB - 1));
}

static void *map_anywhere(size_t bytes)
{
    void *all = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return all == MAP_FAILED ? NULL : all;
}

// Zeroed, at a multiple of SLAB. NULL when memory is out. Mostly the kernel
// puts one right below the last, where it is in its place, and one mapping with
// it.
static struct Slab *map(size_t bytes)
{
    char *all = map_anywhere(bytes), *slab;

    if (!all || slab_of(all) == (struct Slab *)all)
        return (struct Slab *)all;
    munmap(all, bytes);
    all = map_anywhere(bytes + SLAB);
    if (!all)
        return NULL;
    slab = (char *)slab_of(all + SLAB - 1);
    if (slab > all)
        munmap(all, (size_t)(slab - all));
    munmap(slab + bytes, SLAB - (size_t)(slab - all));
    return (struct Slab *)slab;
}

static size_t mapping_of(size_t size)
{
    return (sizeof(struct Slab) + size + PAGE - 1) & ~(PAGE - 1);
}

// --- With the mutex held ---------------------------------------------------

static void link_slab(struct Slab *slab, struct Slab **list)
{
    slab->previous = NULL;
    slab->next = *list;
    if (*list)
        (*list)->previous = slab;
    *list = slab;
}

static void unlink_slab(struct Slab *slab, struct Slab **list)
{
    if (slab->previous)
        slab->previous->next = slab->next;
    else
        *list = slab->next;
    if (slab->next)
        slab->next->previous = slab->previous;
}

static bool has_fresh(const struct Slab *slab)
{
    return slab->fresh + slab->block <= SLAB;
}

static struct Slab *open_slab(size_t number)
{
    struct Slab *slab = heap.spares;

    if (slab) {
        unlink_slab(slab, &heap.spares);
        heap.spare_count--;
    } else {
        slab = map(SLAB);
        if (!slab)
            return NULL;
        heap.bytes += SLAB;
    }
    slab->block = size_of(number);
    slab->freed = NULL;
    slab->used = 0;
    slab->fresh = sizeof(*slab);
    link_slab(slab, &heap.roomy[number]);
    return slab;
}

static void *take_block(size_t number)
{
    struct Slab *slab = heap.roomy[number];
    void *block;

    if (!slab && !(slab = open_slab(number)))
        return NULL;
    if (slab->freed) {
        block = slab->freed;
        slab->freed = *(void **)block;
    } else {
        block = (char *)slab + slab->fresh;
        slab->fresh += (uint32_t)slab->block;
    }
    slab->used++;
    if (!slab->freed && !has_fresh(slab))
        unlink_slab(slab, &heap.roomy[number]);
    return block;
}

static void give_back(struct Slab *slab, void *block)
{
    struct Slab **roomy = &heap.roomy[number_of(slab->block)];

    if (!slab->freed && !has_fresh(slab))
        link_slab(slab, roomy);
    *(void **)block = slab->freed;
    slab->freed = block;
    if (--slab->used)
        return;
    unlink_slab(slab, roomy);
    if (heap.spare_count < SPARES) {
        link_slab(slab, &heap.spares);
        heap.spare_count++;
    } else {
        munmap(slab, SLAB);
        heap.bytes -= SLAB;
    }
}

// --- Anybody ---------------------------------------------------------------

// A mapping of its own is new; a block may have been somebody's.
static void *alloc(size_t size, bool zeroed)
{
    struct Slab *slab;
    void *block;

    if (OF_MALLOC) {
        block = size && size % ALIGNED == 0 ? aligned_alloc(ALIGNED, size)
                                            : malloc(size ? size : 1);
        return block && zeroed ? memset(block, 0, size) : block;
    }
    if (size <= LARGEST) {
        pthread_mutex_lock(&heap.mutex);
        block = take_block(number_of(size));
        pthread_mutex_unlock(&heap.mutex);
        return block && zeroed ? memset(block, 0, size) : block;
    }
    if (size > SIZE_MAX / 2 || !(slab = map(mapping_of(size))))
        return NULL;
    slab->block = mapping_of(size) - sizeof(*slab);
    pthread_mutex_lock(&heap.mutex);
    heap.bytes += mapping_of(size);
    pthread_mutex_unlock(&heap.mutex);
    return slab->blocks;
}

void *Heap_alloc(size_t size)
{
    return alloc(size, false);
}

void *Heap_zeroed(size_t count, size_t size)
{
    size_t all;

    return __builtin_mul_overflow(count, size, &all) ? NULL : alloc(all, true);
}

void *Heap_resize(void *memory, size_t size)
{
    size_t room;
    void *larger;

    if (OF_MALLOC)
        return realloc(memory, size ? size : 1);
    room = memory ? slab_of(memory)->block : 0;
    if (size && size <= room && size >= room / 2)
        return memory;
    larger = Heap_alloc(size);
    if (larger && memory) {
        memcpy(larger, memory, size < room ? size : room);
        Heap_free(memory);
    }
    return larger;
}

char *Heap_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = Heap_alloc(size);

    return copy ? memcpy(copy, text, size) : NULL;
}

void Heap_free(void *memory)
{
    struct Slab *slab = slab_of(memory);

    if (OF_MALLOC) {
        free(memory);
        return;
    }
    if (!memory)
        return;
    pthread_mutex_lock(&heap.mutex);
    if (slab->block <= LARGEST) {
        give_back(slab, memory);
        slab = NULL;
    } else
        heap.bytes -= mapping_of(slab->block);
    pthread_mutex_unlock(&heap.mutex);
    if (slab)
        munmap(slab, mapping_of(slab->block));
}

size_t Heap_bytes(void)
{
    size_t bytes;

    pthread_mutex_lock(&heap.mutex);
    bytes = heap.bytes;
    pthread_mutex_unlock(&heap.mutex);
    return bytes;
}

void Heap_before_fork(void)
{
    pthread_mutex_lock(&heap.mutex);
}

void Heap_after_fork(void)
{
    pthread_mutex_unlock(&heap.mutex);
}
