// SPDX-License-Identifier: MIT
// Our part of a code object, in co_extra: its struct Code, or a note that it is
// not accepted, or that it was seen once; and the work when the object is
// freed. Interpreter's lock held.
#ifndef OCULAR_PYTHON_HOOKS_EXTRA_H
#define OCULAR_PYTHON_HOOKS_EXTRA_H

#include "python/hooks/state.h"

// The head of the object that co_extra points to: a private struct, the same in
// 3.12 to 3.15 (Include/internal/pycore_code.h, _PyCodeObjectExtra). Extra_init
// checks that it still is.
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

// That it was seen once, and not looked at, in this session or another.
static inline bool Extra_is_mark(const void *extra)
{
    return ((uintptr_t)extra & EXTRA_SEEN) == EXTRA_SEEN;
}

// Asks for the co_extra index. 0, or -1 with an exception.
int Extra_init(struct State *state);
// It was classified and is not accepted. 0, or -1 without an exception: memory.
int Extra_set_other(struct State *state, PyCodeObject *code);

#endif
