// SPDX-License-Identifier: MIT
// A parked shadow stack belongs to a greenlet that does not run. Parked stacks
// are in a hash table, and also in a list in the order of parking.
#include "tracer/hook/stacks.h"
#include "ipc/base/heap.h"
#include "tracer/hook/frame.h"

#include <errno.h>

#define BUCKETS 1024u // Number of buckets, a power of two.

// Returns the hash bucket for a root. The root of a stack is the address of a
// page.
static struct Stack **bucket_of(const struct Stacks *stacks, uintptr_t root)
{
    uint64_t hash = (uint64_t)(root >> 4) * UINT64_C(0x9e3779b97f4a7c15);

    return &stacks->buckets[hash >> 32 & (BUCKETS - 1)];
}

int Stacks_park(struct Stacks *stacks, struct Stack *stack)
{
    struct Stack **bucket;

    if (!stacks->buckets)
        stacks->buckets = Heap_zeroed(BUCKETS, sizeof *stacks->buckets);
    if (!stacks->buckets)
        return -ENOMEM;
    bucket = bucket_of(stacks, stack->root);
    stack->next = *bucket;
    *bucket = stack;
    stack->newer = NULL;
    stack->older = stacks->newest;
    if (stack->older)
        stack->older->newer = stack;
    else
        stacks->oldest = stack;
    stacks->newest = stack;
    stacks->count++;
    return 0;
}

static void unlink_stack(struct Stacks *stacks, struct Stack *stack)
{
    if (stack->older)
        stack->older->newer = stack->newer;
    else
        stacks->oldest = stack->newer;
    if (stack->newer)
        stack->newer->older = stack->older;
    else
        stacks->newest = stack->older;
    stacks->count--;
}

struct Stack *Stacks_take(struct Stacks *stacks, uintptr_t root)
{
    struct Stack **link;

    if (!stacks->count)
        return NULL;
    for (link = bucket_of(stacks, root); *link; link = &(*link)->next) {
        struct Stack *stack = *link;

        if (stack->root != root)
            continue;
        *link = stack->next;
        unlink_stack(stacks, stack);
        return stack;
    }
    return NULL;
}

void Stacks_clear(struct Stacks *stacks)
{
    while (stacks->oldest) {
        struct Stack *stack = stacks->oldest;

        stacks->oldest = stack->newer;
        Stack_free(stack);
    }
    stacks->newest = NULL;
    stacks->count = 0;
    Heap_free(stacks->buckets);
    stacks->buckets = NULL;
}

struct Frame *Stack_frames(size_t count)
{
    return Heap_zeroed(count, sizeof(struct Frame));
}

struct Stack *Stack_new(size_t frames)
{
    struct Stack *stack = Heap_zeroed(1, sizeof *stack);

    if (!stack)
        return NULL;
    stack->bottom = Stack_frames(frames);
    if (!stack->bottom) {
        Heap_free(stack);
        return NULL;
    }
    stack->top = stack->bottom;
    stack->limit = stack->bottom + frames - 1;
    return stack;
}

void Stack_free(struct Stack *stack)
{
    if (!stack)
        return;
    Heap_free(stack->bottom);
    Heap_free(stack);
}
