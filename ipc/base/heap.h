// SPDX-License-Identifier: MIT
// Memory of our own, apart from malloc's. A block that a tracer keeps for weeks
// must lie neither in the holes nor at the end of the traced program's heap.
// There a small block can stand between the program's large blocks. Each time
// that the program allocates these again, it would then pay a page fault for
// each of their pages. These functions mean the same as malloc's, and any
// thread may call them.
#ifndef OCULAR_IPC_BASE_HEAP_H
#define OCULAR_IPC_BASE_HEAP_H

#include <stddef.h>

// All four functions return NULL if memory is out. A block is aligned to 64
// bytes if `size` is a multiple of 64 and the block was never resized,
// otherwise to 16 bytes.
void *Heap_alloc(size_t size);
// Returns zeroed memory.
void *Heap_zeroed(size_t count, size_t size);
// Works as realloc() does: `memory` stays as it is if memory is out.
void *Heap_resize(void *memory, size_t size);
char *Heap_text(const char *text); // returns a copy of text
void Heap_free(void *memory);      // frees a block; NULL does nothing

// Number of freed mappings of up to 128 KiB that are kept for later blocks.
#define HEAP_KEPT 32
// For tests: bytes in use, and bytes of address space that are mapped.
size_t Heap_used(void);
size_t Heap_mapped(void);

// Locks the heap before a fork. The thread that forks calls this after it has
// taken all other locks.
void Heap_before_fork(void);
void Heap_after_fork(void); // unlocks the heap, in parent and child

#endif
