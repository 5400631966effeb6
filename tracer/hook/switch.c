// SPDX-License-Identifier: MIT
// Parks a lane's shadow stack and takes up another one.
//
// Nobody tells when a greenlet ends. The root of its stack is freed then and is
// soon another one's, so that a parked stack may belong to a greenlet that is
// gone: before it is taken up again its frames are held against the
// interpreter's.
#include "tracer/hook/switch.h"

#define FIRST_FRAMES 16

static size_t bytes_of(const struct Stack *stack)
{
    return (size_t)(stack->limit + 1 - stack->bottom) * sizeof(struct Frame);
}

// Drops the frames that have gone, and all above them: nothing else is known of
// those.
static void drop_stale(struct Lane *lane, struct RealStack *real)
{
    const struct Frame *gone = NULL, *frame;
    unsigned asked = 0;

    for (frame = lane->top; frame > lane->bottom && asked++ < SWITCH_PROOF;
         frame--)
        if (!real->holds(real, frame))
            gone = frame, asked = 0;
    if (!gone)
        return;
    for (; lane->top >= gone; Lane_pop(lane))
        Cell_add(&lane->unwound, 1);
    lane->top->epoch = EPOCH_NONE; // as in Lane_pop_unseen
}

// The same for a whole stack that is parked; and frees it.
static void abandon(struct Lane *lane, struct Stack *stack)
{
    for (; stack->top > stack->bottom; stack->top--) {
        Cell_add(&lane->unwound, 1);
        lane->active[stack->top->id % LANE_ACTIVE]--;
    }
    lane->stack_bytes -= bytes_of(stack);
    Stack_free(stack);
}

// The span since the last event was that of the stack that is left.
static void end_span(struct Lane *lane, uint64_t ticks)
{
    int64_t now = (int64_t)(ticks - Cell_get(&lane->debt));
    int64_t span = now - lane->last;

    lane->last = now;
    if (lane->contention->last_lane != lane ||
        span > lane->contention->brief_span)
        span = Lane_doubt(lane, span);
    lane->top->self += span;
    Lane_lose_step(lane); // the instruction that switched
}

// Puts the lane's stack away.
static void park(struct Lane *lane, uint64_t ticks)
{
    struct Stack *stack = lane->stack;

    stack->top = lane->top;
    stack->bottom = lane->bottom;
    stack->limit = lane->limit;
    if (stack->top == stack->bottom) { // nobody will miss it
        if (!lane->spare)
            lane->spare = stack;
        else
            abandon(lane, stack);
        return;
    }
    if (lane->ring)
        Ring_push(lane->ring, ticks, EVENT_PARK, 0);
    if (Stacks_park(&lane->parked, stack))
        abandon(lane, stack);
    else if (lane->parked.count > STACKS_MOST)
        abandon(lane, Stacks_take(&lane->parked, lane->parked.oldest->root));
}

static void take_up(struct Lane *lane, struct Stack *stack)
{
    lane->stack = stack;
    lane->top = stack->top;
    lane->bottom = stack->bottom;
    lane->limit = stack->limit;
}

// An empty one, or NULL.
static struct Stack *empty_stack(struct Lane *lane)
{
    struct Stack *stack = lane->spare;

    lane->spare = NULL;
    if (stack) {
        stack->bottom->self = 0;
        return stack;
    }
    stack = Stack_new(FIRST_FRAMES);
    if (stack)
        lane->stack_bytes += bytes_of(stack);
    return stack;
}

// One that had no root when it was parked, and may have grown this one.
static struct Stack *rootless(struct Lane *lane, struct RealStack *real)
{
    struct Stack *stack = Stacks_take(&lane->parked, 0);

    if (!stack || real->holds(real, stack->top))
        return stack;
    if (Stacks_park(&lane->parked, stack))
        abandon(lane, stack);
    return NULL;
}

// The lane's stack may serve for the new root as it is.
static bool serves(const struct Lane *lane, struct RealStack *real)
{
    return lane->top == lane->bottom ||
           (!lane->stack->root && real->holds(real, lane->top));
}

static void show_again(struct Lane *lane, uint64_t ticks)
{
    struct Frame *frame = lane->bottom + 1;

    if (!lane->ring)
        return;
    if (lane->top - frame >= SWITCH_SHOWN)
        frame = lane->top - SWITCH_SHOWN + 1;
    for (; frame <= lane->top; frame++)
        Lane_emit(lane, ticks, EVENT_REOPEN, frame, COURSE_WHOLE);
}

void Lane_switch(struct Lane *lane, struct RealStack *real, uint64_t ticks)
{
    struct Stack *stack;

    lane->chunk = real->chunk;
    if (real->root == lane->stack->root)
        return; // deep recursion: the same stack, in another chunk
    stack = Stacks_take(&lane->parked, real->root);
    if (!stack && serves(lane, real)) {
        lane->stack->root = real->root;
        return;
    }
    end_span(lane, ticks);
    lane->loop_count = 0; // an iteration that straddles a switch is not timed
    if (!stack)
        stack = rootless(lane, real);
    if (!stack)
        stack = empty_stack(lane);
    if (stack) {
        park(lane, ticks);
        take_up(lane, stack);
    }
    lane->stack->root = real->root;
    drop_stale(lane, real);
    show_again(lane, ticks);
}

void Lane_settle(struct Lane *lane, const struct Code *code,
                 struct RealStack *real, uint64_t ticks)
{
    while (lane->top->depth >= real->depth)
        Lane_pop_unseen(lane, ticks);
    while (lane->top > lane->bottom && code->hot.last_caller != lane->top->id &&
           !real->holds(real, lane->top))
        Lane_pop_unseen(lane, ticks);
}
