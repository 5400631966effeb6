// SPDX-License-Identifier: MIT
// The context everything hangs from: what lives as long as the process (code,
// thread records, opcode tables, names) and the session that is running, if one
// is.
// python/ owns the only instance.
#ifndef OCULAR_TRACER_SESSION_ENGINE_H
#define OCULAR_TRACER_SESSION_ENGINE_H

#include "tracer/base/clock.h"
#include "tracer/hook/counting.h"
#include "tracer/hook/thread_traces.h"
#include "tracer/sample/sampler.h"
#include "tracer/timeline/names.h"

struct Session;

struct Engine {
    struct Counting counting; // first: the hooks' line is its beginning
    struct Registry *registry;
    struct ThreadTraces traces;
    struct Names names;
    struct Contention contention;
    sem_t due; // posted when the collector has something to do
    struct Clock clock;
    struct Opcodes opcodes;
    struct FrameLayout layout;
    bool two_arms;           // BRANCH_LEFT and _RIGHT are two sites (3.14+)
    char python[64];         // "CPython 3.13.0"
    char command[256];       // as the viewer shows it
    struct Session *session; // NULL: not tracing. Interpreter's lock.
    struct Ring *rearmed;    // functions that are no longer dark, on their way
                             // to the session's timeline, which owns it; NULL:
                             // none is kept. Pushed to with counting's lock
    pthread_mutex_t ending;  // held while the session's server and sampler
                             // go, so that a fork meets them whole or gone
};

int Engine_init(struct Engine *engine); // 0 or -ENOMEM
// A code object is adopted. Interpreter's lock held.
void Engine_add(struct Engine *engine, struct Code *code);
// A function's sites are about to fire again, `threshold` hits each (0: for
// good), its jumps and branches with `jumps`: it is armed, its callers' self
// time is clean again, frames that were open meanwhile are forgotten, and its
// quantiles age as its mean has. Interpreter's lock held, as for the next two;
// each takes the counting lock.
void Engine_rearm(struct Engine *engine, struct Code *code, uint64_t threshold,
                  bool jumps);
// A stack has shown that one function calls another. Dark, that one could not
// tell: from now on its time is not taken for the caller's own.
void Engine_note_edge(struct Engine *engine, const struct CallEdge *edge);
// The same of two functions that are alive.
void Engine_link(struct Engine *engine, struct Code *caller,
                 struct Code *callee);
// A code object is about to go: no frame points to it any more, its callers'
// self time is clean again, and the collector frees it.
void Engine_retire(struct Engine *engine, struct Code *code);
void Engine_release(struct Engine *engine);

#endif
