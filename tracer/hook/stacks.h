// SPDX-License-Identifier: MIT
// The shadow stacks that a thread has parked. Greenlets swap the interpreter's
// stack under a thread; each of those has a shadow stack of its own, found by
// the root of the interpreter's, in a hash. Their number is bounded: the one
// parked longest ago goes first. Under the counting lock.
#ifndef OCULAR_TRACER_HOOK_STACKS_H
#define OCULAR_TRACER_HOOK_STACKS_H

#include <stddef.h>
#include <stdint.h>

#define STACKS_MOST 4096 // parked, a thread

struct Frame;

// A shadow stack: frames between bottom (a sentinel) and limit.
struct Stack {
    struct Frame *top;
    struct Frame *bottom;
    struct Frame *limit;
    uintptr_t root; // of the interpreter's stack it follows; 0 = it has none

    // The hash's.
    struct Stack *next; // in its bucket
    struct Stack *older, *newer;
};

struct Stacks {
    struct Stack **buckets; // NULL before the first is parked
    struct Stack *oldest, *newest;
    size_t count;
};

// Keeps the stack, which is the hash's from now on; none of that root may be in
// it. -ENOMEM: it is still the caller's.
int Stacks_park(struct Stacks *stacks, struct Stack *stack);
// The stack of that root, which is the caller's from now on, or NULL.
struct Stack *Stacks_take(struct Stacks *stacks, uintptr_t root);
// Frees the parked stacks, and the hash.
void Stacks_clear(struct Stacks *stacks);
// An empty one with room for `frames`, the sentinel among them. NULL: memory.
struct Stack *Stack_new(size_t frames);
void Stack_free(struct Stack *stack);
// Zeroed, each frame on a cache line of its own; for Heap_free(). NULL: memory.
struct Frame *Stack_frames(size_t count);

#endif
