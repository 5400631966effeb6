// SPDX-License-Identifier: MIT
// From Python's code objects to struct Code: classification and adoption; how
// all of them are dropped. Interpreter's lock held.
#ifndef OCULAR_PYTHON_HOOKS_ADOPT_H
#define OCULAR_PYTHON_HOOKS_ADOPT_H

#include "python/hooks/extra.h"

// The accepted code behind a callback's first argument, or NULL (unknown,
// excluded, or not a code object at all but something code-like).
static inline struct Code *Adopt_find(const struct State *state,
                                      PyObject *object)
{
    void *extra;

    if (!PyCode_Check(object))
        return NULL;
    extra = Extra_of(state, (PyCodeObject *)object);
    if ((uintptr_t)extra & EXTRA_OTHER)
        return NULL;
    return extra;
}

// Decides about a code object that has no extra yet and, if it is accepted,
// sets its local events, or leaves it unarmed if the session says so. true:
// newly accepted. Raises nothing.
bool Adopt_classify(struct State *state, PyCodeObject *code);
// A session begins: what was put off in another one was never seen.
void Adopt_begin(struct State *state);
// At first sight of code, if more is spent than there is: it is looked at
// when it is called again, or found running. false: it is to be classified now.
bool Adopt_put_off(struct State *state, PyCodeObject *code);
// Classifies code that was put off and runs: the newest frames of some threads,
// others each time. With the interpreter's lock, by the governor.
void Adopt_running_put_off(struct State *state);
// Hits that code is armed for: in a second, or for good without a budget.
static inline uint64_t Adopt_hits(const struct State *state)
{
    uint64_t second = state->engine.registry->hits;

    return second ? second : state->engine.session->config.threshold;
}
// Its sites fire again, for `hits` each (0: for good), but for those of calls,
// of which each is looked at once; jumps and branches with `jumps`, or without
// a budget. 0, or -1 if they cannot be armed; raises nothing.
int Adopt_rearm(struct State *state, struct Code *code, uint64_t hits,
                bool jumps);
// Adopts it whatever the filter says, never to go dark, in no list of the
// registry and without setting local events: for the calibration. NULL with an
// exception.
struct Code *Adopt_probe(struct State *state, PyCodeObject *code);
// Classifies all code objects that were ever classified once more. 0 or -1.
int Adopt_again(struct State *state);
// The code that runs now, on all threads. 0, or -1 with an exception.
int Adopt_running(struct State *state);
// Tracing ends: clears the local events of accepted code, then makes it
// "other", so that only the address is kept. 0 or -1.
int Adopt_disarm(struct State *state);
int Adopt_drop_all(struct State *state);

#endif
