// SPDX-License-Identifier: MIT
// The calling thread's state and the depth of its Python stack, as cheaply as
// can be: CPython keeps the pointer in a thread-local variable of its own,
// behind a function call; its place in the static TLS block is the same in all
// threads, and is found once, at import. Any thread that runs Python code.
#ifndef OCULAR_PYTHON_HOOKS_THREAD_STATE_H
#define OCULAR_PYTHON_HOOKS_THREAD_STATE_H

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

// From the thread pointer to CPython's variable; 0 = not found.
extern ptrdiff_t thread_state_place;

// Looks for the variable; proves it with a second thread state. With the
// interpreter's lock held.
void ThreadState_find(void);

static inline bool ThreadState_is_found(void)
{
    return thread_state_place != 0;
}

// Only if it is found.
static inline const PyThreadState *ThreadState_fast(void)
{
#if defined(__x86_64__)
    const PyThreadState *state;

    __asm__("movq %%fs:(%1), %0" : "=r"(state) : "r"(thread_state_place));
    return state;
#else
    return THREAD_STATE_CALL();
#endif
}

// The newest chunk of its data stack. Greenlets swap it for one of their own.
static inline uintptr_t ThreadState_chunk(const PyThreadState *state)
{
    return (uintptr_t)state->datastack_chunk;
}

// 1 = the outermost frame.
static inline uint32_t ThreadState_depth(const PyThreadState *state)
{
    return (uint32_t)(state->py_recursion_limit -
                      state->py_recursion_remaining);
}

#endif
