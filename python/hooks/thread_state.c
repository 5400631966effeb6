// SPDX-License-Identifier: MIT
#include "python/hooks/thread_state.h"

#define SEARCH_BYTES 4096 // bytes of the static TLS block that are searched

ptrdiff_t thread_state_place;

#if defined(__x86_64__) && defined(__linux__)

static uintptr_t thread_pointer(void)
{
    uintptr_t pointer;

    __asm__("movq %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

// Returns how many bytes below the thread pointer are certainly mapped. The TLS
// block ends at the thread pointer (x86-64 TLS ABI, variant II), so the
// page in which it ends is mapped.
static size_t search_bytes(uintptr_t pointer)
{
    size_t in_page = pointer % 4096;

    return in_page ? in_page : SEARCH_BYTES;
}

static bool holds(uintptr_t pointer, ptrdiff_t place, const void *state)
{
    return *(const void *volatile *)(pointer + (uintptr_t)place) == state;
}

// Returns true if the word at `place` is CPython's variable. To test the
// word, the function swaps the current thread state. If the word is CPython's
// variable, it then changes, and later changes back. A word that merely has the
// same value does not change.
static bool follows(uintptr_t pointer, ptrdiff_t place, PyThreadState *state,
                    PyThreadState *other)
{
    bool there, back;

    PyThreadState_Swap(other);
    there = holds(pointer, place, other);
    PyThreadState_Swap(state);
    back = holds(pointer, place, state);
    return there && back;
}

void ThreadState_find(void)
{
    PyThreadState *state = PyThreadState_Get();
    PyThreadState *other =
        PyThreadState_New(PyThreadState_GetInterpreter(state));
    uintptr_t pointer = thread_pointer();
    ptrdiff_t place;

    if (!other)
        return;
    for (place = -(ptrdiff_t)sizeof(void *);
         place >= -(ptrdiff_t)search_bytes(pointer) && !thread_state_place;
         place -= (ptrdiff_t)sizeof(void *))
        if (holds(pointer, place, state) &&
            follows(pointer, place, state, other))
            thread_state_place = place;
    PyThreadState_Clear(other);
    PyThreadState_Delete(other);
}

#else

void ThreadState_find(void)
{
}

#endif
