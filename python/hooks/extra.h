// SPDX-License-Identifier: MIT
// Ocular's entry in the co_extra of a code object is a struct Code, a struct
// OtherCode if the code was rejected, or the mark EXTRA_SEEN. When CPython
// frees the code object, this file releases the entry. Hooks, the governor, and
// the threads that start and stop a session call these functions with the GIL
// held.
#pragma once

#include "python/hooks/state.h"

// The head of CPython's private struct _PyCodeObjectExtra
// (Include/internal/pycore_code.h), to which co_extra points. The head of this
// struct is the same in CPython 3.12 to 3.15. Extra_init checks that the
// running CPython has this layout.
struct CodeExtra {
    Py_ssize_t size;
    void *extras[1];
};

static inline void *Extra_of(const struct State *state,
                             const PyCodeObject *code)
{
    const struct CodeExtra *extra = code->co_extra;

    if (!extra || extra->size <= state->extra)
        return NULL;
    return extra->extras[state->extra];
}

// Returns true if `extra` is the mark EXTRA_SEEN of any session. The mark says
// that the code object was called once and not classified.
static inline bool Extra_is_mark(const void *extra)
{
    return ((uintptr_t)extra & EXTRA_SEEN) == EXTRA_SEEN;
}

// Returns a pointer to the code's bits about steps of event loops
// (loop_steps.c), or NULL if the code was not classified.
static inline uint8_t *Extra_steps(const struct State *state,
                                   const PyCodeObject *code)
{
    void *extra = Extra_of(state, code);

    if (!extra || Extra_is_mark(extra))
        return NULL;
    if ((uintptr_t)extra & EXTRA_OTHER)
        return &((struct OtherCode *)((uintptr_t)extra - EXTRA_OTHER))->steps;
    return &((struct Code *)extra)->cold.steps;
}

// Requests the co_extra index. Returns 0, or -1 with an exception.
int Extra_init(struct State *state);
// Notes that `code` was rejected. Returns 0, or -1 without an exception if
// memory is out.
int Extra_set_other(struct State *state, PyCodeObject *code);
