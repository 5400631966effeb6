// SPDX-License-Identifier: MIT
#include "python/hooks/thread_state.h"
#include "tracer/sample/memory.h"

#define SEARCH_BYTES 4096 // bytes of the static TLS block that are searched

ptrdiff_t thread_state_place;

#if defined(__x86_64__)
// The TLS block ends at the thread pointer (x86-64 TLS ABI, variant II).
#define DIRECTION (-1)
#define FIRST_BYTES sizeof(void *)

static uintptr_t thread_pointer(void)
{
    uintptr_t pointer;

    __asm__("movq %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

// Returns how many bytes below the thread pointer are certainly mapped. The
// page in which the TLS block ends is mapped.
static size_t search_bytes(uintptr_t pointer)
{
    size_t in_page = pointer % 4096;

    return in_page ? in_page : SEARCH_BYTES;
}
#elif defined(__aarch64__)
// The TLS block begins two words above the thread pointer (AArch64 TLS ABI,
// variant I).
#define DIRECTION 1
#define FIRST_BYTES (2 * sizeof(void *))

static uintptr_t thread_pointer(void)
{
    return (uintptr_t)__builtin_thread_pointer();
}

// Returns how many bytes above the thread pointer are searched. A page that the
// block does not reach may not be mapped.
static size_t search_bytes(uintptr_t pointer)
{
    size_t in_page = 4096 - pointer % 4096;

    return Memory_is_readable(pointer + in_page) ? SEARCH_BYTES
                                                 : in_page - sizeof(void *);
}
#endif

#ifdef DIRECTION
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
    size_t most = search_bytes(pointer), bytes;

    if (!other)
        return;
    for (bytes = FIRST_BYTES; bytes <= most && !thread_state_place;
         bytes += sizeof(void *)) {
        ptrdiff_t place = DIRECTION * (ptrdiff_t)bytes;

        if (holds(pointer, place, state) &&
            follows(pointer, place, state, other))
            thread_state_place = place;
    }
    PyThreadState_Clear(other);
    PyThreadState_Delete(other);
}

#else

void ThreadState_find(void)
{
}

#endif
