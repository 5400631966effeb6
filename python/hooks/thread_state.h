// SPDX-License-Identifier: MIT
// Reads the calling thread's state and the depth of its Python stack with few
// instructions. CPython keeps the pointer to the thread state in a thread-local
// variable, and offers only a function that returns the pointer. The variable's
// offset in the static TLS block is the same in all threads, and
// ThreadState_find finds it at import. Any thread that runs Python code may
// call these functions.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if PY_VERSION_HEX >= 0x030D0000
#define THREAD_STATE_CALL() PyThreadState_GetUnchecked()
#else
#define THREAD_STATE_CALL() _PyThreadState_UncheckedGet()
#endif

// Offset of CPython's variable from the thread pointer in bytes, or 0 if the
// variable was not found.
extern ptrdiff_t thread_state_place;

// Searches for CPython's variable. Checks with a second thread state that the
// word that was found is CPython's variable. The caller holds the GIL.
void ThreadState_find(void);

static inline bool ThreadState_is_found(void)
{
    return thread_state_place != 0;
}

// Returns the calling thread's state. May be called only if
// ThreadState_is_found() returns true.
static inline const PyThreadState *ThreadState_fast(void)
{
#if defined(__x86_64__)
    const PyThreadState *state;

    __asm__("movq %%fs:(%1), %0" : "=r"(state) : "r"(thread_state_place));
    return state;
#elif defined(__aarch64__)
    return *(PyThreadState *const *)((const char *)__builtin_thread_pointer() +
                                     thread_state_place);
#else
    return THREAD_STATE_CALL();
#endif
}

// Returns the newest chunk of the thread's data stack. Each greenlet has chunks
// of its own.
static inline uintptr_t ThreadState_chunk(const PyThreadState *state)
{
    return (uintptr_t)state->datastack_chunk;
}

// Returns the recursion depth, which is 1 for the outermost frame.
static inline uint32_t ThreadState_depth(const PyThreadState *state)
{
    return (uint32_t)(state->py_recursion_limit -
                      state->py_recursion_remaining);
}
