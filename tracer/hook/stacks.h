// SPDX-License-Identifier: MIT
// Keeps the shadow stacks that a thread has parked. A greenlet has its own
// interpreter stack, and a thread switches between its greenlets. Each
// interpreter stack has its own shadow stack. A hash table finds a parked
// shadow stack by the root of the interpreter stack. The number of parked
// stacks has a limit. At the limit the stack that was parked first is dropped.
// The counting lock guards the stacks.
#ifndef OCULAR_TRACER_HOOK_STACKS_H
#define OCULAR_TRACER_HOOK_STACKS_H

#include <stddef.h>
#include <stdint.h>

#define STACKS_MOST 4096 // largest number of parked stacks of a thread

struct Frame;

// A shadow stack. The frames are between `bottom`, a sentinel, and `limit`.
struct Stack {
    struct Frame *top;
    struct Frame *bottom;
    struct Frame *limit;
    // Root of the interpreter's stack, or 0 before there is a root.
    uintptr_t root;

    // Only the hash table uses the next fields.
    struct Stack *next; // next stack in the bucket
    struct Stack *older, *newer;
};

struct Stacks {
    struct Stack **buckets; // NULL before the first stack is parked
    struct Stack *oldest, *newest;
    size_t count;
};

// Parks the stack in the hash table, which then owns the stack. No other parked
// stack may have the root of this stack. If the result is -ENOMEM, the caller
// still owns the stack.
int Stacks_park(struct Stacks *stacks, struct Stack *stack);
// Returns the parked stack with this root, or NULL. The caller then owns the
// stack.
struct Stack *Stacks_take(struct Stacks *stacks, uintptr_t root);
// Frees the parked stacks and the hash table.
void Stacks_clear(struct Stacks *stacks);
// Returns an empty stack for `frames` frames including the sentinel, or NULL if
// memory is out.
struct Stack *Stack_new(size_t frames);
void Stack_free(struct Stack *stack);
// Allocates frames that contain only zeros. Returns NULL if memory is out. The
// caller frees the frames with Heap_free().
struct Frame *Stack_frames(size_t count);

#endif
