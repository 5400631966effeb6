// SPDX-License-Identifier: MIT
// A slab is a mapping of 64 KiB that contains blocks of one size. Each block
// that is too large for a slab has its own mapping. Slabs and mappings begin
// and end at multiples of 64 KiB, so that a block's address gives its slab.
// Because mappings are aligned to 64 KiB, the kernel merges neighbouring
// mappings. Merging matters, because a process may have only 65 530 mappings.
// Pages of a slab that were never touched take no memory. If a sanitizer is in
// use, the heap calls malloc, because the sanitizer watches malloc.
#include "ipc/base/heap.h"

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
// Bytes between two neighbouring sizes of small blocks.
#define STEP ((size_t)16)
#define SMALL ((size_t)256) // Largest size of small blocks, in bytes.
// Bytes of the largest block in a slab. Between SMALL and LARGEST there are
// eight sizes of blocks per power of two.
#define LARGEST ((size_t)8 << 10)
#define SMALL_SIZES (SMALL / STEP)
#define SIZES (SMALL_SIZES + 5 * 8)
#define SPARES 4 // Maximum number of empty slabs that are kept for reuse.
// Largest size in bytes of a freed mapping that is kept for reuse.
#define KEPT_MOST (2 * SLAB)

struct Slab {
    // Neighbours in the list of slabs that have free blocks of the same size,
    // if this slab has a free block. Neighbours in the list of spare slabs, if
    // this slab is empty and kept for reuse.
    struct Slab *next, *previous;
    // List of the freed blocks. The first word of each block points to the next
    // one.
    void *freed;
    // Bytes of each block of the slab. A mapping has only one block.
    size_t block;
    uint32_t used;  // Number of blocks in use.
    uint32_t fresh; // Offset of the first block that was never used.
    _Alignas(ALIGNED) char blocks[];
};

// `heap` is a global variable, because a process needs only one heap of Ocular,
// just as it has only one malloc.
static struct {
    // Protects all members of `heap`. The heap's mutex is the innermost lock. A
    // thread takes the heap's mutex after all its other locks.
    pthread_mutex_t mutex;
    struct Slab *roomy[SIZES];
    struct Slab *spares;
    // Freed mappings that are kept, the oldest first.
    struct Slab *kept[HEAP_KEPT];
    size_t spare_count, kept_count;
    size_t used; // Bytes of all blocks in use.
} heap = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static size_t number_of(size_t size)
{
    size_t doubling;

    if (size <= SMALL)
        return size ? (size - 1) / STEP : 0;
    // `doubling` is 8 for sizes from 257 to 512.
    doubling = (size_t)(63 - __builtin_clzll(size - 1));
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

// Returns the bytes of the mapping for a block that is larger than LARGEST.
static size_t mapping_of(size_t size)
{
    return (sizeof(struct Slab) + size + SLAB - 1) & ~(SLAB - 1);
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

// Maps zeroed memory at a multiple of SLAB. Returns NULL if there is no memory.
// The kernel usually puts a new mapping right below the last one. The new
// mapping is aligned if the last one is.
static struct Slab *map(size_t bytes)
{
    char *all = map_anywhere(bytes), *slab;

    if (!all || slab_of(all) == (struct Slab *)all)
        return (struct Slab *)all;
    munmap(all, bytes);
    all = map_anywhere(bytes + SLAB);
    if (!all)
        return NULL;
    // The highest aligned place leaves no gap below the last mapping.
    slab = (char *)slab_of(all + SLAB);
    munmap(all, (size_t)(slab - all));
    if (slab < all + SLAB)
        munmap(slab + bytes, (size_t)(all + SLAB - slab));
    return (struct Slab *)slab;
}

// --- These functions need the mutex ---------------------------------------

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

static bool has_room(const struct Slab *slab)
{
    return slab->freed || slab->fresh + slab->block <= SLAB;
}

static void add_spare(struct Slab *slab)
{
    link_slab(slab, &heap.spares);
    heap.spare_count++;
}

// Takes one of the spare (empty) slabs for blocks of the size class `number`.
// Returns NULL if there is no spare slab.
static struct Slab *open_slab(size_t number)
{
    struct Slab *slab = heap.spares;

    if (!slab)
        return NULL;
    unlink_slab(slab, &heap.spares);
    heap.spare_count--;
    slab->block = size_of(number);
    slab->freed = NULL;
    slab->used = 0;
    slab->fresh = sizeof(*slab);
    link_slab(slab, &heap.roomy[number]);
    return slab;
}

// Returns a block of the size class `number`, or NULL if no slab has a free
// block of this class.
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
    heap.used += slab->block;
    if (!has_room(slab))
        unlink_slab(slab, &heap.roomy[number]);
    return block;
}

// Frees a block of a slab. Returns the slab if the caller must unmap it,
// otherwise NULL.
static struct Slab *give_back(struct Slab *slab, void *block)
{
    struct Slab **roomy = &heap.roomy[number_of(slab->block)];

    if (!has_room(slab))
        link_slab(slab, roomy);
    *(void **)block = slab->freed;
    slab->freed = block;
    heap.used -= slab->block;
    if (--slab->used)
        return NULL;
    unlink_slab(slab, roomy);
    if (heap.spare_count < SPARES) {
        add_spare(slab);
        return NULL;
    }
    return slab;
}

// Takes the mapping with index `place` out of the kept mappings.
static struct Slab *remove_kept(size_t place)
{
    struct Slab *slab = heap.kept[place];

    heap.kept_count--;
    memmove(&heap.kept[place], &heap.kept[place + 1],
            (heap.kept_count - place) * sizeof(*heap.kept));
    return slab;
}

// Takes the newest kept mapping for a block of this size. Returns NULL if no
// kept mapping fits.
static struct Slab *take_mapping(size_t size)
{
    for (size_t i = heap.kept_count; i > 0; i--) {
        struct Slab *slab = heap.kept[i - 1];

        if (mapping_of(slab->block) != mapping_of(size))
            continue;
        heap.used += slab->block;
        return remove_kept(i - 1);
    }
    return NULL;
}

// Frees a block that has its own mapping. Returns a mapping that the caller
// must unmap, or NULL. Returns a large mapping at once. A small mapping is
// kept. If too many mappings are kept, returns the oldest one. Mappings are
// kept because they are often needed again: a full timeline allocates and frees
// a chunk for each 4092 events, and each new thread allocates a record and a
// stack.
static struct Slab *give_back_mapping(struct Slab *slab)
{
    struct Slab *oldest = NULL;

    heap.used -= slab->block;
    if (mapping_of(slab->block) > KEPT_MOST)
        return slab;
    if (heap.kept_count == HEAP_KEPT)
        oldest = remove_kept(0);
    heap.kept[heap.kept_count++] = slab;
    return oldest;
}

// --- These functions take the mutex ----------------------------------------

// Allocates a block in a slab. Releases the heap's mutex during system calls,
// because a traced thread may wait for it.
static void *small(size_t size)
{
    struct Slab *slab;
    void *block;

    pthread_mutex_lock(&heap.mutex);
    while (!(block = take_block(number_of(size)))) {
        pthread_mutex_unlock(&heap.mutex);
        slab = map(SLAB);
        if (!slab)
            return NULL;
        pthread_mutex_lock(&heap.mutex);
        add_spare(slab);
    }
    pthread_mutex_unlock(&heap.mutex);
    return block;
}

// Allocates a block in its own mapping. Sets *zero to true if the memory is
// zeroed.
static void *large(size_t size, bool *zero)
{
    struct Slab *slab;

    if (size > SIZE_MAX / 2)
        return NULL;
    pthread_mutex_lock(&heap.mutex);
    slab = take_mapping(size);
    pthread_mutex_unlock(&heap.mutex);
    *zero = !slab;
    if (slab)
        return slab->blocks;
    slab = map(mapping_of(size));
    if (!slab)
        return NULL;
    slab->block = mapping_of(size) - sizeof(*slab);
    pthread_mutex_lock(&heap.mutex);
    heap.used += slab->block;
    pthread_mutex_unlock(&heap.mutex);
    return slab->blocks;
}

static void *alloc(size_t size, bool zeroed)
{
    bool zero = false;
    void *block;

    if (!OF_MALLOC)
        block = size <= LARGEST ? small(size) : large(size, &zero);
    else if (size && size % ALIGNED == 0)
        block = aligned_alloc(ALIGNED, size);
    else
        block = malloc(size ? size : 1);
    return block && zeroed && !zero ? memset(block, 0, size) : block;
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

// Returns true if a new block for `size` bytes would also have `room` bytes.
static bool fits(size_t size, size_t room)
{
    if (size > LARGEST && room > LARGEST)
        return mapping_of(size) == mapping_of(room);
    return size <= LARGEST && room <= LARGEST &&
           number_of(size) == number_of(room);
}

void *Heap_resize(void *memory, size_t size)
{
    size_t room;
    void *other;

    if (OF_MALLOC)
        return realloc(memory, size ? size : 1);
    if (!memory)
        return Heap_alloc(size);
    room = slab_of(memory)->block;
    if (fits(size, room))
        return memory;
    other = Heap_alloc(size);
    if (other) {
        memcpy(other, memory, size < room ? size : room);
        Heap_free(memory);
    }
    return other;
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
    slab = slab->block <= LARGEST ? give_back(slab, memory)
                                  : give_back_mapping(slab);
    pthread_mutex_unlock(&heap.mutex);
    // munmap() fails if it would split a mapping in two and the process already
    // has the maximum number of mappings. If munmap() fails, the memory is
    // leaked.
    if (slab)
        munmap(slab, slab->block <= LARGEST ? SLAB : mapping_of(slab->block));
}

size_t Heap_used(void)
{
    size_t bytes;

    pthread_mutex_lock(&heap.mutex);
    bytes = heap.used;
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
