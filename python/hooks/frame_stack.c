// SPDX-License-Identifier: MIT
#include "python/hooks/frame_stack.h"

#include <stddef.h>

// A frame of CPython, with the lowest and the highest depth that the frame can
// have.
struct Place {
    uintptr_t frame; // 0 behind the outermost frame.
    int64_t least;
    int64_t most;
};

struct RunningFrames {
    struct RealStack real;
    struct Place top;
    struct Place found; // The frame that the function holds() found last.
};

// Returns the next older frame with its depths. A depth is a number of frames.
// While a throw() passes through `yield from`, CPython links the frames of the
// outer generators but does not count these frames in the depth. Therefore only
// the range from `least` to `most` is known for a frame's depth.
static struct Place below(struct Place place)
{
    place.least--;
    place.most -=
        *(const char *)(place.frame + FRAME_OWNER) != FRAME_OWNED_BY_GENERATOR;
    place.frame = FrameStack_python(FrameStack_previous(place.frame));
    return place;
}

static bool holds(struct RealStack *real, const struct Frame *frame)
{
    struct RunningFrames *running = (struct RunningFrames *)real;
    struct Place place = running->found;

    if (place.most < frame->depth)
        place = running->top;
    for (; place.frame && place.most >= frame->depth; place = below(place)) {
        if (place.least > frame->depth ||
            FrameStack_code(place.frame) != frame->address)
            continue;
        running->found = place;
        return true;
    }
    return false;
}

static struct _PyInterpreterFrame **newest_frame(const PyThreadState *state)
{
#if PY_VERSION_HEX >= 0x030D0000
    return &((PyThreadState *)state)->current_frame;
#else
    return &state->cframe->current_frame;
#endif
}

size_t FrameStack_codes(const PyThreadState *state, PyCodeObject **codes,
                        size_t most)
{
    uintptr_t frame;
    size_t count = 0;

#if PY_VERSION_HEX < 0x030D0000
    // No cframe: CPython has not finished making the thread state.
    if (!state->cframe)
        return 0;
#endif
    for (frame = FrameStack_python(FrameStack_newest(state));
         frame && count < most;
         frame = FrameStack_python(FrameStack_previous(frame)))
        codes[count++] = (PyCodeObject *)FrameStack_code(frame);
    return count;
}

bool FrameStack_caller_has(const PyThreadState *state, uintptr_t object)
{
    uintptr_t frame = FrameStack_newest(state);
    const PyCodeObject *code = (const PyCodeObject *)FrameStack_caller(state);

    if (!code)
        return false;
    frame = FrameStack_python(FrameStack_previous(frame));
    for (int i = 0; i < code->co_nlocalsplus; i++)
        if (FrameStack_local(frame, i) == object)
            return true;
    return false;
}

void FrameStack_switch(struct ThreadTrace *trace, const PyThreadState *state,
                       uint32_t depth, uint64_t ticks)
{
    const _PyStackChunk *chunk = state->datastack_chunk, *root = chunk;
    struct RunningFrames running = {
        .real.holds = holds,
        .top = {FrameStack_python(FrameStack_newest(state)), depth, depth},
    };

    running.found = running.top;
    while (root && root->previous)
        root = root->previous;
    running.real.chunk = (uintptr_t)chunk;
    running.real.root = (uintptr_t)root;
    ThreadTrace_switch(trace, &running.real, ticks);
}

// --- Hidden frames -----------------------------------------------------------

// Returns the frame before a thread's first frame, which is NULL before 3.15,
// and CPython's own outermost frame from 3.15 on.
static void *bottom_of(void *frame)
{
#if PY_VERSION_HEX >= 0x030F0000
    while (frame && FrameStack_previous((uintptr_t)frame))
        frame = (void *)FrameStack_previous((uintptr_t)frame);
    return frame;
#else
    (void)frame;
    return NULL;
#endif
}

// CPython before 3.14 also limits C calls. C_CALLS_LEFT is a new thread's limit
// of C calls.
#if PY_VERSION_HEX < 0x030D0000
#define C_CALLS_LEFT C_RECURSION_LIMIT
#elif PY_VERSION_HEX < 0x030E0000
#define C_CALLS_LEFT Py_C_RECURSION_LIMIT
#endif

void FrameStack_hide(struct HiddenFrames *hidden)
{
    PyThreadState *state = PyThreadState_Get();

    hidden->newest = *newest_frame(state);
    hidden->depth = state->py_recursion_limit - state->py_recursion_remaining;
    *newest_frame(state) = bottom_of(hidden->newest);
    state->py_recursion_remaining = state->py_recursion_limit;
#ifdef C_CALLS_LEFT
    hidden->c_depth = state->c_recursion_remaining;
    state->c_recursion_remaining = C_CALLS_LEFT;
#endif
}

void FrameStack_show(const struct HiddenFrames *hidden)
{
    PyThreadState *state = PyThreadState_Get();

    *newest_frame(state) = hidden->newest;
    // The program may have changed the recursion limit since FrameStack_hide.
    state->py_recursion_remaining = state->py_recursion_limit - hidden->depth;
#ifdef C_CALLS_LEFT
    state->c_recursion_remaining = hidden->c_depth;
#endif
}

bool FrameStack_are_hidden(void)
{
    void *newest = *newest_frame(PyThreadState_Get());

    return newest == bottom_of(newest);
}
