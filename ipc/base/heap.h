// SPDX-License-Identifier: MIT
// Ocular has its own heap, which is separate from malloc's heap. A block that
// Ocular keeps for weeks must not lie in the traced program's heap. If a small
// block of ours lies between a program's large blocks, malloc maps and unmaps
// the large blocks again and again, and the program pays for the page faults.
// The functions of heap.h do the same as malloc's functions. Any thread may
// call these functions.
#ifndef OCULAR_IPC_BASE_HEAP_H
#define OCULAR_IPC_BASE_HEAP_H

#include <stddef.h>

// The four functions that allocate return NULL if memory is out. A block is
// aligned to 64 bytes if `size` is a multiple of 64 and the block was never
// resized, otherwise to 16 bytes.
void *Heap_alloc(size_t size);
// Returns zeroed memory.
void *Heap_zeroed(size_t count, size_t size);
// Works as realloc() does: if memory is out, `memory` does not change.
void *Heap_resize(void *memory, size_t size);
char *Heap_text(const char *text); // returns a copy of text
void Heap_free(void *memory);      // frees a block; NULL does nothing

// Maximum number of freed mappings of up to 128 KiB that are kept for later
// blocks.
#define HEAP_KEPT 32
// For tests: bytes in use, and bytes of address space that are mapped.
size_t Heap_used(void);
size_t Heap_mapped(void);

// Locks the heap before a fork. The thread that forks calls this after it has
// taken all other locks.
void Heap_before_fork(void);
void Heap_after_fork(void); // unlocks the heap, in parent and child

#endif
