// SPDX-License-Identifier: MIT
// Memory that is freed in one go: what a snapshot or another large message
// points to lives in its arena. One thread at a time.
#ifndef OCULAR_IPC_BASE_ARENA_H
#define OCULAR_IPC_BASE_ARENA_H

#include <stddef.h>

struct ArenaChunk;

struct Arena { // zeroed: empty
    struct ArenaChunk *newest;
};

void Arena_release(struct Arena *arena); // empty again
// Empty again, with memory for as much as there was: fresh pages cost more than
// writing to them.
void Arena_clear(struct Arena *arena);
// Zeroed memory; NULL when memory is out.
void *Arena_alloc(struct Arena *arena, size_t size);
// A copy of text (NULL stays NULL); NULL when memory is out.
const char *Arena_text(struct Arena *arena, const char *text);
// The same for `size` bytes that need not end in a NUL.
const char *Arena_copy(struct Arena *arena, const char *text, size_t size);
// Bytes held, for memory accounts.
size_t Arena_bytes(const struct Arena *arena);

#endif
