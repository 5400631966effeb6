// SPDX-License-Identifier: MIT
// The context that all else hangs from. The engine holds what lives as long as
// the process (code, thread records, opcode tables, names), and the running
// session, if there is one. python/ owns the only instance.
#ifndef OCULAR_TRACER_SESSION_ENGINE_H
#define OCULAR_TRACER_SESSION_ENGINE_H

#include "tracer/base/clock.h"
#include "tracer/hook/counting.h"
#include "tracer/hook/thread_traces.h"
#include "tracer/sample/sampler.h"
#include "tracer/timeline/names.h"

struct Session;

struct Engine {
    // The first member, since hooks use the cache line at its beginning.
    struct Counting counting;
    struct Registry *registry;
    struct ThreadTraces traces;
    struct Names names;
    struct Contention contention;
    sem_t due; // posted if the collector has something to do
    struct Clock clock;
    struct Opcodes opcodes;
    struct FrameLayout layout;
    bool two_arms;     // BRANCH_LEFT and BRANCH_RIGHT are two sites (3.14+)
    char python[64];   // "CPython 3.13.0"
    char command[256]; // printable, as viewers show it
    // NULL: nothing is traced. Guarded by the GIL.
    struct Session *session;
    // Events of functions that are armed again, on their way to the timeline of
    // the session, which owns the ring. NULL: there is no timeline. Written
    // under the counting lock.
    struct Ring *rearmed;
    // Held while the session's server and sampler are stopped, so that a fork
    // finds them either running or gone.
    pthread_mutex_t ending;
};

int Engine_init(struct Engine *engine); // 0 or -ENOMEM
// Adds an adopted code object. The caller holds the GIL.
void Engine_add(struct Engine *engine, struct Code *code);
// Called when a function's sites are about to fire again, `threshold` hits each
// (0: without limit); with `jumps`, jumps and branches, too. The function
// counts as armed. The self time of its callers is exact again, its open frames
// are forgotten, and its old quantiles lose weight as its mean does. The caller
// holds the GIL, as for the next three functions, which all take the counting
// lock.
void Engine_rearm(struct Engine *engine, struct Code *code, uint64_t threshold,
                  bool jumps);
// Notes that a sampled stack shows a call of one function by another. From
// now on the time of a dark callee is left out of the self time of its caller.
void Engine_note_edge(struct Engine *engine, const struct CallEdge *edge);
// Notes a call of `callee` by `caller`, both of which are alive.
void Engine_link(struct Engine *engine, struct Code *caller,
                 struct Code *callee);
// Called when a code object is about to be freed. No frame points to the code
// any more, the self time of its callers is exact again, and the collector
// frees the record.
void Engine_retire(struct Engine *engine, struct Code *code);
void Engine_release(struct Engine *engine);

#endif
