// SPDX-License-Identifier: MIT
// Keeps the shadow stacks that a thread has parked (stored, because their
// greenlets do not run). Each greenlet has its own interpreter stack, and a
// thread switches between its greenlets. Each interpreter stack has its own
// shadow stack. A hash table finds a parked shadow stack by the root of the
// interpreter stack. The number of parked stacks of a thread is limited to
// STACKS_MOST. At the limit, the stack that was parked first is dropped. The
// counting lock guards struct Stacks.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define STACKS_MOST 4096 // Largest number of parked stacks of a thread.

struct Frame;

// A shadow stack. The frames of a stack are between `bottom`, which is a
// sentinel, and `limit`.
struct Stack {
    struct Frame *top;
    struct Frame *bottom;
    struct Frame *limit;
    // Root of the interpreter's stack, or 0 as long as that stack has no root.
    uintptr_t root;

    // Only the hash table of struct Stacks uses the fields from `next` on.
    struct Stack *next; // Next stack in the hash bucket.
    struct Stack *older, *newer;
};

struct Stacks {
    // The hash table, or NULL before the first stack is parked.
    struct Stack **buckets;
    struct Stack *oldest, *newest;
    size_t count;
};

// Parks the stack in the hash table, which then owns the stack. No other parked
// stack may have the same root. If the result is -ENOMEM, the caller still owns
// the stack.
int Stacks_park(struct Stacks *stacks, struct Stack *stack);
// Takes the parked stack with the root `root` out of the hash table, and
// returns it, or NULL if there is none. The caller owns this stack.
struct Stack *Stacks_take(struct Stacks *stacks, uintptr_t root);
// Frees all parked stacks and the hash table.
void Stacks_clear(struct Stacks *stacks);
// Returns an empty stack for `frames` frames including the sentinel, or NULL if
// memory is out.
struct Stack *Stack_new(size_t frames);
void Stack_free(struct Stack *stack);
// Allocates `count` frames that contain only zeros. Returns NULL if memory is
// out. The caller frees the frames with Heap_free().
struct Frame *Stack_frames(size_t count);
