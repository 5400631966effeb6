// SPDX-License-Identifier: MIT
// Memory of our own, apart from malloc's: what a tracer keeps for weeks must
// not lie in the holes of the traced program's heap, nor at its end. (A program
// that makes and drops large blocks pays a page fault for each of their pages,
// every time, once something small stands in their way.) The calls mean the
// same as malloc's. Any thread.
#ifndef OCULAR_IPC_BASE_HEAP_H
#define OCULAR_IPC_BASE_HEAP_H

#include <stddef.h>

// NULL when memory is out, as with the next three. Aligned to 64 bytes if
// `size` is a multiple of 64, else (and if it has been resized) to 16.
void *Heap_alloc(size_t size);
// Zeroed.
void *Heap_zeroed(size_t count, size_t size);
// Like realloc: `memory` stays as it is when memory is out.
void *Heap_resize(void *memory, size_t size);
char *Heap_text(const char *text); // a copy
void Heap_free(void *memory);      // of the above; NULL does nothing

// Freed blocks of 8 to 128 KiB whose memory is kept for the next ones, at most.
#define HEAP_KEPT 32
// For tests: bytes that are in use; bytes of address space that it has.
size_t Heap_used(void);
size_t Heap_mapped(void);

// Around a fork, by the thread that forks, all other locks taken before.
void Heap_before_fork(void);
void Heap_after_fork(void); // in the parent and in the child

#endif
