// SPDX-License-Identifier: MIT
// An arena is a list of chunks, each of which is twice as large as the chunk
// before. See arena.h.
#include "ipc/base/arena.h"
#include "ipc/base/heap.h"

#include <stdint.h>
#include <string.h>

#define CHUNK_MIN ((size_t)4 << 10)
#define CHUNK_MAX ((size_t)1 << 20)
// Arena_clear keeps as much memory as was used, and in addition 1/SPARE_PART of
// it for growth.
#define SPARE_PART 4
// If less than 1/LEAST_USED of a chunk was used, Arena_clear replaces the chunk
// by a smaller chunk.
#define LEAST_USED 8

struct ArenaChunk {
    struct ArenaChunk *next; // The next older chunk.
    size_t size;             // Number of bytes in `data`.
    size_t used;
    _Alignas(max_align_t) char data[];
};

void Arena_release(struct Arena *arena)
{
    struct ArenaChunk *chunk = arena->newest;

    while (chunk) {
        struct ArenaChunk *next = chunk->next;

        Heap_free(chunk);
        chunk = next;
    }
    *arena = (struct Arena){.newest = NULL};
}

static struct ArenaChunk *push_chunk(struct Arena *arena, size_t room)
{
    struct ArenaChunk *chunk =
        room > SIZE_MAX / 4 ? NULL : Heap_zeroed(1, sizeof *chunk + room);

    if (!chunk)
        return NULL;
    chunk->size = room;
    chunk->next = arena->newest;
    arena->newest = chunk;
    return chunk;
}

// Adds a chunk that is twice as large as the newest chunk, but at most
// CHUNK_MAX. Because the chunks grow, a large snapshot needs few chunks, and a
// small one needs little memory.
static struct ArenaChunk *add_chunk(struct Arena *arena, size_t size)
{
    size_t room = arena->newest ? arena->newest->size * 2 : CHUNK_MIN;

    if (room > CHUNK_MAX)
        room = CHUNK_MAX;
    return push_chunk(arena, room < size ? size : room);
}

void Arena_clear(struct Arena *arena)
{
    struct ArenaChunk *newest = arena->newest;
    size_t used = 0;

    for (const struct ArenaChunk *c = newest; c; c = c->next)
        used += c->used;
    if (newest && !newest->next && used >= newest->size / LEAST_USED) {
        memset(newest->data, 0, used);
        newest->used = 0;
        arena->failed = false;
        return;
    }
    Arena_release(arena);
    if (used) // If push_chunk fails, the arena is left empty but usable.
        push_chunk(arena, used + used / SPARE_PART);
}

static void *take(struct Arena *arena, size_t size, size_t alignment)
{
    struct ArenaChunk *chunk = arena->newest;
    size_t start = 0;

    if (chunk)
        start = (chunk->used + alignment - 1) & ~(alignment - 1);
    if (!chunk || start > chunk->size || chunk->size - start < size) {
        chunk = add_chunk(arena, size);
        start = 0;
    }
    if (!chunk) {
        arena->failed = true;
        return NULL;
    }
    chunk->used = start + size;
    return chunk->data + start;
}

void *Arena_alloc(struct Arena *arena, size_t size)
{
    return take(arena, size ? size : 1, _Alignof(max_align_t));
}

const char *Arena_copy(struct Arena *arena, const char *text, size_t size)
{
    char *copy;

    if (!text || size == SIZE_MAX)
        return NULL;
    copy = take(arena, size + 1, 1);
    if (copy)
        // The copied text ends with a NUL, because the memory of a chunk is
        // zeroed.
        memcpy(copy, text, size);
    return copy;
}

const char *Arena_text(struct Arena *arena, const char *text)
{
    return text ? Arena_copy(arena, text, strlen(text)) : NULL;
}

size_t Arena_bytes(const struct Arena *arena)
{
    size_t bytes = 0;

    for (struct ArenaChunk *c = arena->newest; c; c = c->next)
        bytes += sizeof(*c) + c->size;
    return bytes;
}
