// SPDX-License-Identifier: MIT
// struct Engine is the context of all tracing in the process. struct Engine
// holds the data that lives as long as the process (code objects, thread
// records, opcode tables, names), and the running session. The code in python/
// owns the only struct Engine.
#pragma once

#include "tracer/base/clock.h"
#include "tracer/hook/counting.h"
#include "tracer/hook/exceptions.h"
#include "tracer/hook/garbage.h"
#include "tracer/hook/thread_traces.h"
#include "tracer/sample/sampler.h"
#include "tracer/timeline/names.h"

struct Session;

struct Engine {
    // `counting` is the first member, because hooks use the cache line at the
    // beginning of struct Counting.
    struct Counting counting;
    struct Registry *registry;
    struct ThreadTraces traces;
    struct Names names;
    struct Contention contention;
    struct Garbage garbage;
    // Seconds that births and deaths of objects have taken, as the bits of a
    // double. The thread that holds the GIL writes `objects_s`.
    counter_t objects_s;
    struct EventLoops loops;
    struct Exceptions exceptions;
    // A semaphore that is posted if the collector has something to do.
    sem_t due;
    struct Clock clock;
    struct Opcodes opcodes;
    struct FrameLayout layout;
    // True if BRANCH_LEFT and BRANCH_RIGHT are two sites (CPython 3.14 and
    // later).
    bool two_arms;
    char python[64]; // CPython's version, for example "CPython 3.13.0".
    // The program's command line as printable text, which viewers show.
    char command[256];
    // The running session, or NULL if nothing is traced. The GIL guards
    // `session`.
    struct Session *session;
    // A ring for events about functions that get their hooks again, or NULL if
    // there is no timeline. The session owns the ring and moves the events into
    // its timeline. A thread that writes into the ring holds the counting lock.
    struct Ring *rearmed;
    // A thread holds this mutex while it stops the session's server and
    // sampler. At a fork, the server and the sampler are therefore either
    // running or gone.
    pthread_mutex_t ending;
};

int Engine_init(struct Engine *engine); // Returns 0 or -ENOMEM.
// Adds a new code object. The caller holds the GIL.
void Engine_add(struct Engine *engine, struct Code *code);
// Engine_rearm must be called before a function's hooks are installed again.
// Each hook may then have `threshold` hits, or any number if `threshold` is 0.
// If `jumps` is true, jumps and branches get hooks, too. After Engine_rearm the
// function counts as armed (with hooks), and the self time of its callers is
// exact again. Engine_rearm forgets the frames of the function's unfinished
// calls, and gives its old quantiles and its old mean less weight. The callers
// of Engine_rearm, Engine_note_edge, Engine_look and Engine_link hold the GIL.
// All four functions take the counting lock.
void Engine_rearm(struct Engine *engine, struct Code *code, uint64_t threshold,
                  bool jumps);
// Engine_note_edge is called if a sampled stack shows a call of one function by
// another. After this, the time of the called function does not count as its
// caller's self time while the called function has no hooks.
void Engine_note_edge(struct Engine *engine, const struct CallEdge *edge);
// Counts for all functions the calls that have begun and not ended
// (tracer/code/latency.h). The thread that builds a snapshot calls Engine_look.
void Engine_look(struct Engine *engine);
// Adds to the call edges that `caller` calls `callee`. The code objects
// `caller` and `callee` must be alive.
void Engine_link(struct Engine *engine, struct Code *caller,
                 struct Code *callee);
// Engine_retire must be called before a code object is freed. After
// Engine_retire no frame points to the code object, the self time of its
// callers is exact again, and the collector will free `code`.
void Engine_retire(struct Engine *engine, struct Code *code);
void Engine_release(struct Engine *engine);
