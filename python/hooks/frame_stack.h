// SPDX-License-Identifier: MIT
// The interpreter's own stack of the calling thread, read in place: which one
// it is, and whether a frame is still on it. With the interpreter's lock held.
#ifndef OCULAR_PYTHON_HOOKS_FRAME_STACK_H
#define OCULAR_PYTHON_HOOKS_FRAME_STACK_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tracer/hook/switch.h"

// _PyInterpreterFrame (Include/internal/pycore_frame.h). The words are the same
// in 3.12 to 3.15.
#define FRAME_CODE 0
#define FRAME_PREVIOUS (1 * sizeof(void *))
#define FRAME_INSTRUCTION (7 * sizeof(void *))
#if PY_VERSION_HEX >= 0x030E0000
#define FRAME_OWNER 74
#define FRAME_CODE_MASK (~(uintptr_t)3) // without a stack reference's tag bits
#else
#define FRAME_OWNER 70
#define FRAME_CODE_MASK (~(uintptr_t)0)
#endif
#define FRAME_OWNED_BY_GENERATOR 1
#define FRAME_OWNED_BY_C 3 // from here on: not a frame of Python code

// The record's stack is replaced if the thread runs on another one now.
// `depth` is that of the event.
void FrameStack_switch(struct ThreadTrace *trace, const PyThreadState *state,
                       uint32_t depth, uint64_t ticks);

// The code object of the frame below the newest one, but for C's; 0: none.
static inline uintptr_t FrameStack_caller(const PyThreadState *state)
{
#if PY_VERSION_HEX >= 0x030D0000
    const char *frame = (const char *)state->current_frame;
#else
    const char *frame = (const char *)state->cframe->current_frame;
#endif

    while (frame) {
        frame = *(const char *const *)(frame + FRAME_PREVIOUS);
        if (!frame || frame[FRAME_OWNER] < FRAME_OWNED_BY_C)
            break;
    }
    return frame ? *(const uintptr_t *)(frame + FRAME_CODE) & FRAME_CODE_MASK
                 : 0;
}

// The address of the calling thread's newest frame, be it C's; 0: it has none.
uintptr_t FrameStack_newest(const PyThreadState *state);
// The code objects of a thread's newest frames, at most `most`. The thread does
// not run Python code meanwhile: the caller has the interpreter. Returns how
// many.
size_t FrameStack_codes(const PyThreadState *state, PyCodeObject **codes,
                        size_t most);

// The frames that FrameStack_hide has taken off.
struct HiddenFrames {
    void *newest;
    int depth;   // of Python calls
    int c_depth; // rest of CPython's limit then; before 3.14
};

// FrameStack_hide takes the calling thread's frames away, as if it had just
// begun, and FrameStack_show brings them back. Calls that began in between must
// have returned.
void FrameStack_hide(struct HiddenFrames *hidden);
void FrameStack_show(const struct HiddenFrames *hidden);
// True if no frame has been entered since they were hidden, or all of those
// have been left.
bool FrameStack_are_hidden(void);

#endif
