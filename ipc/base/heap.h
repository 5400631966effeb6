// SPDX-License-Identifier: MIT
// Ocular has a heap of its own, apart from malloc's heap. A block that Ocular
// keeps for weeks must not lie in the traced program's heap. If a small block
// of Ocular lay between large blocks of the program, malloc would map and unmap
// the large blocks again and again. Such mapping and unmapping would cost the
// program page faults. Each function of heap.h does the same as the function of
// malloc with a similar name. Any thread may call the functions of heap.h.
#pragma once

#include <stddef.h>

// Heap_alloc, Heap_zeroed, Heap_resize and Heap_text return NULL if there is no
// memory. A block is aligned to 64 bytes if its size is a multiple of 64 and it
// was never resized. Any other block is aligned to 16 bytes.
void *Heap_alloc(size_t size);
// Returns zeroed memory.
void *Heap_zeroed(size_t count, size_t size);
// Works as realloc() does: if there is no memory, `memory` does not change.
void *Heap_resize(void *memory, size_t size);
char *Heap_text(const char *text); // Returns a copy of the text.
void Heap_free(void *memory);      // Frees a block. `memory` may be NULL.

// Maximum number of freed mappings of up to 128 KiB that are kept for later
// blocks.
#define HEAP_KEPT 32
// Returns the number of bytes of all blocks in use, or 0 if a sanitizer is in
// use.
size_t Heap_used(void);

// Locks the heap before a fork. The thread that forks calls this function after
// it has taken all other locks.
void Heap_before_fork(void);
// Unlocks the heap after a fork, in the parent and in the child.
void Heap_after_fork(void);
