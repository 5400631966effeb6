// SPDX-License-Identifier: MIT
// struct Arena is memory that is freed as a whole. All texts and lists of a
// snapshot, or of another large message, are in its arena. Only one thread at a
// time may use an arena.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct ArenaChunk;

struct Arena { // An empty arena has only zero bytes.
    struct ArenaChunk *newest;
    // True if there was no memory for a part of the contents. A caller that
    // fills an arena need not check each text, if it checks `failed` at the
    // end.
    bool failed;
};

void Arena_release(struct Arena *arena); // Frees all memory of the arena.
// Empties the arena, but keeps enough memory for the same contents, because new
// memory costs page faults.
void Arena_clear(struct Arena *arena);
// Returns zeroed memory, or NULL if there is no memory.
void *Arena_alloc(struct Arena *arena, size_t size);
// Returns a copy of `text`. Returns NULL if `text` is NULL or there is no
// memory.
const char *Arena_text(struct Arena *arena, const char *text);
// Returns a copy of `size` bytes, which need not end with a NUL. Adds a NUL to
// the copy.
const char *Arena_copy(struct Arena *arena, const char *text, size_t size);
// Returns the number of bytes that the arena occupies.
size_t Arena_bytes(const struct Arena *arena);
