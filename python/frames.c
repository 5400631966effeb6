// SPDX-License-Identifier: MIT
// Looks at the running thread's data stack and frames.
#include "python/frames.h"

#include <stddef.h>

struct RunningFrames {
    struct RealStack real;
    const char *top;
    const char *place; // where the search is
    int64_t depth;     // of the top one
    int64_t least;     // depth that the place can have
    int64_t most;
};

static const char *previous_of(const char *frame)
{
    return *(const char *const *)(frame + FRAME_PREVIOUS);
}

// The frame or the next one that runs Python code: between them are those that
// C made to enter the evaluation loop.
static const char *python_frame(const char *frame)
{
    while (frame && frame[FRAME_OWNER] >= FRAME_OWNED_BY_C)
        frame = previous_of(frame);
    return frame;
}

static bool runs(const char *frame, uintptr_t code)
{
    return (*(const uintptr_t *)(frame + FRAME_CODE) & FRAME_CODE_MASK) == code;
}

static void rewind_to_top(struct RunningFrames *running)
{
    running->place = running->top;
    running->least = running->most = running->depth;
}

// Depths count frames, so a frame's place tells its depth; not quite: while a
// throw() passes through `yield from`, the outer generators' frames are linked
// and not counted.
static bool holds(struct RealStack *real, const struct Frame *frame)
{
    struct RunningFrames *running = (struct RunningFrames *)real;

    if (running->most < frame->depth)
        rewind_to_top(running);
    while (running->place && running->most >= frame->depth) {
        if (running->least <= frame->depth &&
            runs(running->place, frame->address))
            return true;
        running->least--;
        running->most -=
            running->place[FRAME_OWNER] != FRAME_OWNED_BY_GENERATOR;
        running->place = python_frame(previous_of(running->place));
    }
    return false;
}

static const char *current_frame(const PyThreadState *state)
{
#if PY_VERSION_HEX >= 0x030D0000
    return (const char *)state->current_frame;
#else
    return (const char *)state->cframe->current_frame;
#endif
}

void Frames_switch(struct Lane *lane, const PyThreadState *state,
                   uint32_t depth, uint64_t ticks)
{
    const _PyStackChunk *chunk = state->datastack_chunk, *root = chunk;
    struct RunningFrames running = {
        .real = {.chunk = (uintptr_t)chunk, .holds = holds},
        .top = python_frame(current_frame(state)),
        .depth = depth,
    };

    while (root && root->previous)
        root = root->previous;
    running.real.root = (uintptr_t)root;
    rewind_to_top(&running);
    Lane_switch(lane, &running.real, ticks);
}
