// SPDX-License-Identifier: MIT
// Reads CPython's frames of the calling thread in place. The frames show on
// which stack the thread runs, and whether a frame is still on that stack.
// Hooks and the governor call these functions with the GIL held.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tracer/hook/hit.h"
#include "tracer/hook/switch.h"

// Byte offsets in _PyInterpreterFrame (Include/internal/pycore_frame.h). The
// first four offsets are the same in CPython 3.12 to 3.15.
#define FRAME_CODE 0
#define FRAME_PREVIOUS (1 * sizeof(void *))
#define FRAME_OBJECT (6 * sizeof(void *))
#define FRAME_INSTRUCTION (7 * sizeof(void *))
#if PY_VERSION_HEX >= 0x030E0000
#define FRAME_OWNER 74
#define FRAME_CODE_MASK (~(uintptr_t)3) // clears a _PyStackRef's tag bits
#else
#define FRAME_OWNER 70
#define FRAME_CODE_MASK (~(uintptr_t)0)
#endif
#define FRAME_OWNED_BY_GENERATOR 1
#if PY_VERSION_HEX >= 0x030E0000
#define FRAME_LOCALS 80
#else
#define FRAME_LOCALS 72
#endif
// C code has made all frames whose owner is FRAME_OWNED_BY_C or larger.
#define FRAME_OWNED_BY_C 3

// Switches a thread's record to the stack on which the thread runs now. `depth`
// is the depth of the event.
void FrameStack_switch(struct ThreadTrace *trace, const PyThreadState *state,
                       uint32_t depth, uint64_t ticks);

// Returns the address of the thread's newest frame, or 0. C code may have made
// the newest frame.
static inline uintptr_t FrameStack_newest(const PyThreadState *state)
{
#if PY_VERSION_HEX >= 0x030D0000
    return (uintptr_t)state->current_frame;
#else
    return (uintptr_t)state->cframe->current_frame;
#endif
}

// Returns the address of the next older frame, or 0.
static inline uintptr_t FrameStack_previous(uintptr_t frame)
{
    return *(const uintptr_t *)(frame + FRAME_PREVIOUS);
}

// Returns `frame` if it runs Python code, otherwise the next older frame that
// does, or 0. C code makes frames without Python code to enter the evaluation
// loop. `frame` may be 0.
static inline uintptr_t FrameStack_python(uintptr_t frame)
{
    while (frame && *(const char *)(frame + FRAME_OWNER) >= FRAME_OWNED_BY_C)
        frame = FrameStack_previous(frame);
    return frame;
}

// Returns the address of the code object of a frame. `frame` may be 0.
static inline uintptr_t FrameStack_code(uintptr_t frame)
{
    return frame ? *(const uintptr_t *)(frame + FRAME_CODE) & FRAME_CODE_MASK
                 : 0;
}

// Returns the address of the code object of the newest Python frame, or 0.
static inline uintptr_t FrameStack_running(const PyThreadState *state)
{
    return FrameStack_code(FrameStack_python(FrameStack_newest(state)));
}

// Returns the address of the code object of the newest frame's caller, or 0.
// Frames that C code has made are not counted.
static inline uintptr_t FrameStack_caller(const PyThreadState *state)
{
    uintptr_t frame = FrameStack_newest(state);

    if (frame)
        frame = FrameStack_python(FrameStack_previous(frame));
    return FrameStack_code(frame);
}

// Returns the address of the instruction at which a frame is.
static inline uintptr_t FrameStack_instruction(uintptr_t frame)
{
    return *(const uintptr_t *)(frame + FRAME_INSTRUCTION);
}

// Returns the address of the object in a frame's local variable, or 0.
static inline uintptr_t FrameStack_local(uintptr_t frame, int index)
{
    const uintptr_t *locals = (const uintptr_t *)(frame + FRAME_LOCALS);

    return locals[index] & FRAME_CODE_MASK;
}

// Returns true if a local variable of the newest frame's caller has the object.
bool FrameStack_caller_has(const PyThreadState *state, uintptr_t object);

// Returns the value that a hit stores beside its code unit (Hit_to). If a call
// starts, the value is the caller's code object. If a call ends, the value is
// the frame. For a jump, the value is the target `to`.
static inline size_t FrameStack_to(const PyThreadState *state,
                                   enum HitKind kind, size_t to)
{
    if (kind <= HIT_RESUME)
        return Hit_caller(FrameStack_caller(state));
    if (kind == HIT_LEAVE || kind == HIT_RAISE)
        return Hit_frame(FrameStack_newest(state));
    return to;
}

// Stores the code objects of a thread's `most` newest frames in `codes` and
// returns their number. The thread cannot run Python code during the call,
// because the caller holds the GIL.
size_t FrameStack_codes(const PyThreadState *state, PyCodeObject **codes,
                        size_t most);

// Holds the values that FrameStack_hide saves.
struct HiddenFrames {
    void *newest;
    int depth;   // Number of nested Python calls.
    int c_depth; // Number of C calls that CPython's limit leaves (before 3.14).
};

// FrameStack_hide unlinks the calling thread's frames, so that the thread looks
// as if it had just begun. FrameStack_show links the frames again. Calls that
// begin between FrameStack_hide and FrameStack_show must return before
// FrameStack_show.
void FrameStack_hide(struct HiddenFrames *hidden);
void FrameStack_show(const struct HiddenFrames *hidden);
// Returns true if no call that began after FrameStack_hide is still running.
bool FrameStack_are_hidden(void);
