// SPDX-License-Identifier: MIT
// The walk over frames; see the header.
#include "tracer/walk.h"

#include <errno.h>
#include <string.h>

#define BATCH 16 // thread states a system call
#define RETRIES 3

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

int Walk_init(struct Walk *walk, const struct Memory *memory,
              const struct FrameLayout *layout)
{
    size_t state_last = most(layout->thread_frame,
                             most(layout->thread_chunk, layout->thread_top));
    size_t state_first = least(layout->thread_frame,
                               least(layout->thread_chunk, layout->thread_top));
    size_t frame_last =
        most(layout->frame_code,
             most(layout->frame_previous, layout->frame_instruction));

    memset(walk, 0, sizeof(*walk));
    walk->memory = memory;
    walk->layout = *layout;
    if (layout->active_mask) {
        state_first = least(state_first, layout->thread_active);
        state_last = most(state_last, layout->thread_active);
    }
    walk->state_from = state_first;
    if (state_last - walk->state_from > WALK_STATE - sizeof(uintptr_t) ||
        frame_last > WALK_FRAME_SIZE - sizeof(uintptr_t) ||
        layout->frame_owner >= WALK_FRAME_SIZE)
        return -EINVAL;
    walk->state_size = state_last - walk->state_from + sizeof(uintptr_t);
    walk->frame_size =
        most(frame_last + sizeof(uintptr_t), layout->frame_owner + 1);
    return 0;
}

static uintptr_t word(const uint8_t *bytes, size_t offset)
{
    uintptr_t value;

    memcpy(&value, bytes + offset, sizeof(value));
    return value;
}

// 3.12 keeps the current frame one pointer further away.
static void follow_cframes(struct Walk *walk, struct WalkStart *starts,
                           size_t count)
{
    struct MemoryPart parts[BATCH];

    for (size_t i = 0; i < count; i++)
        parts[i] = (struct MemoryPart){
            starts[i].read ? starts[i].frame + walk->layout.cframe_frame : 0,
            &starts[i].frame, sizeof(starts[i].frame), false};
    Memory_read_parts(walk->memory, parts, count);
    for (size_t i = 0; i < count; i++)
        starts[i].read = parts[i].read;
}

static void read_starts(struct Walk *walk, struct WalkStart *starts,
                        size_t count)
{
    const struct FrameLayout *layout = &walk->layout;
    struct MemoryPart parts[BATCH];
    uint8_t states[BATCH][WALK_STATE];

    for (size_t i = 0; i < count; i++)
        parts[i] = (struct MemoryPart){starts[i].state + walk->state_from,
                                       states[i], walk->state_size, false};
    Memory_read_parts(walk->memory, parts, count);
    for (size_t i = 0; i < count; i++) {
        starts[i].read = parts[i].read;
        if (!parts[i].read)
            continue;
        starts[i].frame =
            word(states[i], layout->thread_frame - walk->state_from);
        starts[i].chunk =
            word(states[i], layout->thread_chunk - walk->state_from);
        starts[i].top = word(states[i], layout->thread_top - walk->state_from);
        starts[i].active =
            !layout->active_mask ||
            (states[i][layout->thread_active - walk->state_from] &
             layout->active_mask);
    }
    if (layout->through_cframe)
        follow_cframes(walk, starts, count);
}

void Walk_starts(struct Walk *walk, struct WalkStart *starts, size_t count)
{
    for (size_t i = 0; i < count; i += BATCH)
        read_starts(walk, starts + i, least(count - i, BATCH));
}

static void copy_stack(struct Walk *walk, const struct WalkStart *start)
{
    size_t size = least(start->top - start->chunk, WALK_COPY);

    walk->copied = true;
    walk->copy_from = start->top - size;
    if (Memory_read(walk->memory, walk->copy_from, walk->copy, size))
        walk->copy_size = size;
}

static bool in_copy(const struct Walk *walk, uintptr_t frame)
{
    return walk->copy_size >= walk->frame_size && frame >= walk->copy_from &&
           frame - walk->copy_from <= walk->copy_size - walk->frame_size;
}

// The bytes of a frame, or NULL.
static const uint8_t *read_frame(struct Walk *walk,
                                 const struct WalkStart *start, uintptr_t frame)
{
    if (frame % sizeof(uintptr_t) != 0)
        return NULL;
    if (!walk->copied && frame >= start->chunk && frame < start->top)
        copy_stack(walk, start);
    if (in_copy(walk, frame))
        return walk->copy + (frame - walk->copy_from);
    if (!Memory_read(walk->memory, frame, walk->frame, walk->frame_size))
        return NULL;
    return walk->frame;
}

// Whether a frame without a caller is the last of its stack: C has made it, or
// nothing can be below it (greenlets leave C's frames out while they switch).
// Else it has lost its caller since: it was popped, or it has yielded. C's
// frames lie on C's stack, where anything may have come in their place.
static bool is_last(const struct Walk *walk, const struct WalkStart *start,
                    uintptr_t at, uint8_t owner)
{
    uint8_t c = walk->layout.owned_by_c;

    return c == 0 || owner == c || owner == c + 1 ||
           at == start->chunk + walk->layout.chunk_first;
}

static void follow_frames(struct Walk *walk, const struct WalkStart *start)
{
    const struct FrameLayout *layout = &walk->layout;
    uintptr_t at = start->read ? start->frame : 0;

    walk->depth = 0;
    walk->copied = false;
    walk->copy_size = 0;
    walk->truncated = false;
    walk->severed = false;
    walk->torn = !start->read;
    while (at != 0 && !walk->torn) {
        const uint8_t *frame;
        uintptr_t previous;

        if (walk->depth == WALK_DEPTH) {
            walk->truncated = true; // or a loop, which this ends too
            return;
        }
        frame = read_frame(walk, start, at);
        if (frame == NULL) {
            walk->torn = true;
            return;
        }
        walk->frames[walk->depth++] = (struct WalkFrame){
            word(frame, layout->frame_code) & layout->code_mask,
            word(frame, layout->frame_instruction)};
        previous = word(frame, layout->frame_previous);
        walk->severed = previous == 0 &&
                        !is_last(walk, start, at, frame[layout->frame_owner]);
        walk->torn = walk->severed || previous == at;
        at = previous;
    }
}

// The top frame is all there is, and outside the data stack: a generator's that
// has yielded since, and so has no caller any more.
static bool has_yielded(const struct Walk *walk, const struct WalkStart *start)
{
    return walk->depth == 1 && walk->severed &&
           (start->frame < start->chunk || start->frame >= start->top);
}

void Walk_push(struct Walk *walk, struct WalkFrame top)
{
    if (walk->depth > 0 && walk->frames[0].code == top.code)
        return;
    if (walk->depth == WALK_DEPTH) {
        walk->depth--;
        walk->truncated = true;
    }
    memmove(walk->frames + 1, walk->frames,
            walk->depth * sizeof(walk->frames[0]));
    walk->frames[0] = top;
    walk->depth++;
}

void Walk_frames(struct Walk *walk, struct WalkStart *start)
{
    struct WalkFrame first;
    bool yielded;

    follow_frames(walk, start);
    yielded = has_yielded(walk, start);
    first = walk->frames[0];
    for (int i = 0; i < RETRIES && start->read && walk->torn; i++) {
        Walk_starts(walk, start, 1);
        follow_frames(walk, start);
    }
    // Whoever runs now is the one that it yielded to. Without this, generators
    // would be seen on top the less often the more they yield.
    if (yielded)
        Walk_push(walk, first);
}
