// SPDX-License-Identifier: MIT
// Looks at the running thread's data stack and frames.
#include "python/frames.h"

#include <stddef.h>

// A frame of the interpreter's, and the depths it can have.
struct Place {
    const char *frame; // NULL beyond the last
    int64_t least;
    int64_t most;
};

struct RunningFrames {
    struct RealStack real;
    struct Place top;
    struct Place found; // by the newest question that had an answer
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

// Depths count frames, so a frame's place tells its depth; not quite: while a
// throw() passes through `yield from`, the outer generators' frames are linked
// and not counted.
static struct Place below(struct Place place)
{
    place.least--;
    place.most -= place.frame[FRAME_OWNER] != FRAME_OWNED_BY_GENERATOR;
    place.frame = python_frame(previous_of(place.frame));
    return place;
}

static bool holds(struct RealStack *real, const struct Frame *frame)
{
    struct RunningFrames *running = (struct RunningFrames *)real;
    struct Place place = running->found;

    if (place.most < frame->depth)
        place = running->top;
    for (; place.frame && place.most >= frame->depth; place = below(place)) {
        if (place.least > frame->depth || !runs(place.frame, frame->address))
            continue;
        running->found = place;
        return true;
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

static struct RunningFrames running_frames(const PyThreadState *state,
                                           uint32_t depth)
{
    struct RunningFrames running = {
        .real = {.holds = holds, .depth = depth},
        .top = {python_frame(current_frame(state)), depth, depth},
    };

    running.found = running.top;
    return running;
}

void Frames_switch(struct Lane *lane, const PyThreadState *state,
                   uint32_t depth, uint64_t ticks)
{
    const _PyStackChunk *chunk = state->datastack_chunk, *root = chunk;
    struct RunningFrames running = running_frames(state, depth);

    while (root && root->previous)
        root = root->previous;
    running.real.chunk = (uintptr_t)chunk;
    running.real.root = (uintptr_t)root;
    Lane_switch(lane, &running.real, ticks);
}

void Frames_settle(struct Lane *lane, const struct Code *code,
                   const PyThreadState *state, uint32_t depth, uint64_t ticks)
{
    struct RunningFrames running = running_frames(state, depth);

    Lane_settle(lane, code, &running.real, ticks);
}
