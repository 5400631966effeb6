// SPDX-License-Identifier: MIT
// Classifies code objects as accepted (traced) or rejected. Makes, arms and
// drops the struct Code of each accepted code object. Hooks, the governor, and
// the threads that start and stop a session call these functions with the GIL
// held.
#pragma once

#include "python/hooks/extra.h"

// Returns the struct Code of a hook's first argument. Returns NULL if the
// argument is unknown, rejected, or not a code object (Cython passes objects
// that only look like code).
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

// Returns the beginning of `text`, at most CODE_TEXT_SIZE characters, as UTF-8
// with lone surrogates escaped. The text lives until the caller releases
// *keeper.
const char *Adopt_text(PyObject *text, PyObject **keeper);
// Returns true if the path of the code's source file ends in `ending`.
bool Adopt_is_in(const PyCodeObject *code, const char *ending);
// Returns true for the code of asyncio's Handle._run, by which asyncio's event
// loop calls all callbacks, including the steps of tasks. The first local
// variable of this code is the handle.
bool Adopt_runs_handles(const PyCodeObject *code);
// Classifies a code object that has no extra yet. Sets the local events of an
// accepted code object, or leaves the code object unarmed if the session arms
// no new code. Returns true if this call has accepted the code object. Leaves
// no exception set.
bool Adopt_classify(struct State *state, PyCodeObject *code);
// Must be called at the start of a session. Makes code that earlier sessions
// have put off count as never called.
void Adopt_begin(struct State *state);
// If the budget is overdrawn, puts off the classification of new code. The code
// is classified when it is called again, or when a thread is found running it.
// Returns false if the code must be classified now.
bool Adopt_put_off(struct State *state, PyCodeObject *code);
// Classifies running code that was put off. Each call examines the newest
// frames of a few threads, in turn. The governor calls this function.
void Adopt_running_put_off(struct State *state);
// Like Adopt_find for the code of a suspended coroutine. If Ocular has not
// found the code yet and it is the program's own code, classifies the code.
struct Code *Adopt_suspended(struct State *state, PyCodeObject *code);
// Returns the number of hits after which an armed site goes dark. If a budget
// is set, the number is hits per second, otherwise hits in all.
static inline uint64_t Adopt_hits(const struct State *state)
{
    uint64_t second = state->engine.registry->hits;

    return second ? second : state->engine.session->config.threshold;
}
// Arms all sites of `code` for `hits` hits each (0 = without limit). Call
// instructions that were inspected are not armed again. Jumps and branches are
// armed if `jumps` is true or there is no budget. Returns 0, or -1 if the
// events cannot be set. Leaves no exception set.
int Adopt_rearm(struct State *state, struct Code *code, uint64_t hits,
                bool jumps);
// Arms the call instructions of armed code again.
void Adopt_renew_calls(struct State *state, struct Code *code);
// Makes a struct Code for a program of the calibration. The filter does not
// apply to this struct Code, which never goes dark. Such a struct Code is in no
// list of the registry, and its code has no local events. Returns NULL with an
// exception on failure.
struct Code *Adopt_probe(struct State *state, PyCodeObject *code);
// Classifies all known code objects again. Returns 0, or -1 on failure.
int Adopt_again(struct State *state);
// Classifies the code that runs now on any thread. Returns 0, or -1 with an
// exception.
int Adopt_running(struct State *state);
// At the end of tracing, Adopt_disarm clears the local events of accepted code.
// Adopt_drop_all then replaces each struct Code by a struct OtherCode.
// Adopt_disarm and Adopt_drop_all return 0 or -1.
int Adopt_disarm(struct State *state);
int Adopt_drop_all(struct State *state);
