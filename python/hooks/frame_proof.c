// SPDX-License-Identifier: MIT
#include "python/hooks/frame_proof.h"
#include "python/hooks/frame_stack.h"
#include "python/hooks/thread_state.h"

#include <string.h>

#define MOST 16  // Largest number of frames that are compared.
#define HEAD 104 // Bytes of a frame, up to the last field used.

// Holds the fields of a frame, as FrameProof_check reads them by the layout.
struct SeenFrame {
    uintptr_t code, instruction, previous, object;
    uint8_t owner;
};

static uintptr_t word(const uint8_t *head, size_t at)
{
    uintptr_t value = 0;

    // If the layout is wrong, the offset may be any number.
    if (at <= HEAD - sizeof value)
        memcpy(&value, head + at, sizeof value);
    return value;
}

static bool read_frame(const struct Memory *memory,
                       const struct FrameLayout *layout, uintptr_t at,
                       struct SeenFrame *frame)
{
    uint8_t head[HEAD];

    if (!Memory_read(memory, at, head, sizeof head))
        return false;
    frame->code = word(head, layout->frame_code) & layout->code_mask;
    frame->previous = word(head, layout->frame_previous);
    frame->instruction = word(head, layout->frame_instruction);
    frame->object = word(head, layout->frame_object);
    frame->owner = (uint8_t)word(head, layout->frame_owner);
    return true;
}

// Reads the frame at `at`, or the next older frame that C code did not make.
static bool find_frame(const struct Memory *memory,
                       const struct FrameLayout *layout, uintptr_t at,
                       struct SeenFrame *frame)
{
    unsigned i;

    for (i = 0; i < MOST; i++) {
        if (!read_frame(memory, layout, at, frame))
            return false;
        if (frame->owner < layout->owned_by_c)
            return true;
        at = frame->previous;
    }
    return false;
}

static bool is_like(const struct FrameLayout *layout,
                    const struct SeenFrame *frame, PyFrameObject *object)
{
    PyCodeObject *code = PyFrame_GetCode(object);
    uintptr_t first = (uintptr_t)code + layout->code_bytecode;
    int generators = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;
    uint8_t owner = code->co_flags & generators ? FRAME_OWNED_BY_GENERATOR : 0;
    bool same =
        frame->code == (uintptr_t)code && frame->owner == owner &&
        frame->object == (uintptr_t)object &&
        frame->instruction - first == (uintptr_t)PyFrame_GetLasti(object);

    Py_DECREF(code);
    return same;
}

static bool are_alike(const struct Memory *memory,
                      const struct FrameLayout *layout)
{
    uintptr_t at = FrameStack_newest(THREAD_STATE_CALL());
    PyFrameObject *object =
        (PyFrameObject *)Py_XNewRef((PyObject *)PyEval_GetFrame());
    bool same = true;
    unsigned i;

    for (i = 0; object && same && i < MOST; i++) {
        PyFrameObject *caller = PyFrame_GetBack(object);
        struct SeenFrame frame = {0};

        same = find_frame(memory, layout, at, &frame) &&
               is_like(layout, &frame, object);
        at = frame.previous;
        Py_DECREF(object);
        object = caller;
    }
    Py_XDECREF((PyObject *)object);
    return same;
}

int FrameProof_check(const struct FrameLayout *layout)
{
    struct Memory memory;
    bool same;

    if (Memory_open(&memory) < 0)
        return 0;
    same = are_alike(&memory, layout);
    Memory_close(&memory);
    if (same)
        return 0;
    PyErr_Format(PyExc_ImportError,
                 "Ocular was compiled for another CPython than this one (%s): "
                 "its frames have another layout; install Ocular anew "
                 "for this interpreter",
                 Py_GetVersion());
    return -1;
}
