// SPDX-License-Identifier: MIT
// Ocular has its own heap, which is separate from malloc's heap. A block that
// Ocular keeps for weeks must not lie in the traced program's heap. If a small
// block of Ocular lay between a program's large blocks, malloc would map and
// unmap the large blocks again and again, and the program would pay for the
// page faults. The functions of heap.h do the same as malloc's functions. Any
// thread may call the functions of heap.h.
#pragma once

#include <stddef.h>

// Heap_alloc, Heap_zeroed, Heap_resize and Heap_text return NULL if there is no
// memory. A block is aligned to 64 bytes if its size is a multiple of 64 and it
// was never resized. All other blocks are aligned to 16 bytes.
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
// For tests: the bytes of the heap that are in use, and the bytes of address
// space that it has mapped.
size_t Heap_used(void);
size_t Heap_mapped(void);

// Locks the heap before a fork. The thread that forks calls this function after
// it has taken all other locks.
void Heap_before_fork(void);
// Unlocks the heap after a fork, in the parent and in the child.
void Heap_after_fork(void);
