// SPDX-License-Identifier: MIT
// If a thread switches to another greenlet, its shadow stack is parked
// (stored), and the other greenlet's shadow stack becomes current.
//
// CPython has no event for the end of a greenlet. When a greenlet ends, the
// root of its stack is freed, and soon another greenlet can get the same root.
// A parked stack can therefore belong to a greenlet that has ended. Before a
// parked stack becomes current, its frames are compared with the interpreter's
// frames.
#include "tracer/hook/switch.h"
#include "tracer/code/latency.h"

#define FIRST_FRAMES 16

static void lose(const struct Frame *frame)
{
    if (frame->code)
        Latency_lose(frame->code, frame->begin);
}

// Drops the frames that are no longer on the interpreter's stack, and all their
// inner frames.
static void drop_stale(struct ThreadTrace *trace, struct RealStack *real)
{
    const struct Frame *gone = NULL, *frame;
    unsigned asked = 0;

    for (frame = trace->top; frame > trace->bottom && asked++ < SWITCH_PROOF;
         frame--)
        if (!real->holds(real, frame))
            gone = frame, asked = 0;
    if (!gone)
        return;
    for (; trace->top >= gone; ThreadTrace_pop(trace)) {
        Counter_add(&trace->unwound, 1);
        lose(trace->top);
    }
    // The self time of this frame's call is unknown, as in
    // ThreadTrace_pop_unseen.
    trace->top->epoch = trace->top->line_epoch = EPOCH_NONE;
}

// Drops all frames of a parked stack and frees the stack.
static void abandon(struct ThreadTrace *trace, struct Stack *stack)
{
    for (; stack->top > stack->bottom; stack->top--) {
        Counter_add(&trace->unwound, 1);
        lose(stack->top);
        trace->active[stack->top->id % THREAD_TRACE_ACTIVE]--;
    }
    Stack_free(stack);
}

// Parks the thread's current shadow stack.
static void park(struct ThreadTrace *trace, uint64_t ticks)
{
    struct Stack *stack = trace->stack;

    stack->top = trace->top;
    stack->bottom = trace->bottom;
    stack->limit = trace->limit;
    // There is no need to park an empty stack.
    if (stack->top == stack->bottom) {
        if (!trace->spare)
            trace->spare = stack;
        else
            abandon(trace, stack);
        return;
    }
    if (trace->ring)
        Ring_push(trace->ring, ticks, EVENT_PARK, 0);
    if (Stacks_park(&trace->parked, stack))
        abandon(trace, stack);
    else if (trace->parked.count > STACKS_MOST)
        abandon(trace, Stacks_take(&trace->parked, trace->parked.oldest->root));
}

static void take_up(struct ThreadTrace *trace, struct Stack *stack)
{
    trace->stack = stack;
    trace->top = stack->top;
    trace->bottom = stack->bottom;
    trace->limit = stack->limit;
}

// Returns an empty stack, or NULL if memory is out.
static struct Stack *empty_stack(struct ThreadTrace *trace)
{
    struct Stack *stack = trace->spare;

    trace->spare = NULL;
    if (stack) {
        stack->bottom->self = 0;
        return stack;
    }
    return Stack_new(FIRST_FRAMES);
}

// Searches for a stack that was parked without a root, because the
// interpreter's stack of that greenlet may have a root now. Returns the parked
// stack if its top frame is on the stack `real`, otherwise NULL.
static struct Stack *rootless(struct ThreadTrace *trace, struct RealStack *real)
{
    struct Stack *stack = Stacks_take(&trace->parked, 0);

    if (!stack || real->holds(real, stack->top))
        return stack;
    if (Stacks_park(&trace->parked, stack))
        abandon(trace, stack);
    return NULL;
}

// Returns true if the thread's current shadow stack can also be used for the
// new root.
static bool serves(const struct ThreadTrace *trace, struct RealStack *real)
{
    return trace->top == trace->bottom ||
           (!trace->stack->root && real->holds(real, trace->top));
}

static void show_again(struct ThreadTrace *trace, uint64_t ticks)
{
    struct Frame *frame = trace->bottom + 1;

    if (!trace->ring)
        return;
    if (trace->top - frame >= SWITCH_SHOWN)
        frame = trace->top - SWITCH_SHOWN + 1;
    for (; frame <= trace->top; frame++)
        ThreadTrace_emit(trace, ticks, EVENT_REOPEN, frame);
}

void ThreadTrace_switch(struct ThreadTrace *trace, struct RealStack *real,
                        uint64_t ticks)
{
    struct Stack *stack;

    trace->chunk = real->chunk;
    if (real->root == trace->stack->root)
        // The interpreter's stack is the same, but has grown into another
        // chunk.
        return;
    stack = Stacks_take(&trace->parked, real->root);
    if (!stack && serves(trace, real)) {
        trace->stack->root = real->root;
        return;
    }
    // The time since the last event is added to the old stack's top frame.
    ThreadTrace_end_span(trace, ticks);
    // The instruction that switches the stack is not timed.
    ThreadTrace_lose_step(trace);
    // If the thread switches its stack during an iteration of a loop, the
    // iteration is not timed.
    trace->loop_count = 0;
    if (!stack)
        stack = rootless(trace, real);
    if (!stack)
        stack = empty_stack(trace);
    if (stack) {
        park(trace, ticks);
        take_up(trace, stack);
    }
    trace->stack->root = real->root;
    drop_stale(trace, real);
    show_again(trace, ticks);
}
