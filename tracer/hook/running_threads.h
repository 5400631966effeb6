// SPDX-License-Identifier: MIT
// Finds the kernel's threads that run Python code, and the interpreter's thread
// state that each thread runs. A thread state names the thread that made it. In
// an embedding program, or in a child that C code has forked, a different
// thread may run the state. So if the hooks have seen a thread with this state,
// that thread counts, and not the named thread. The caller holds the GIL.
#ifndef OCULAR_TRACER_HOOK_RUNNING_THREADS_H
#define OCULAR_TRACER_HOOK_RUNNING_THREADS_H

#include "tracer/hook/thread_traces.h"

// One of the interpreter's thread states.
struct StateListed {
    uintptr_t address;
    uint64_t id;     // a newer state has a larger id.
    pid_t tid;       // kernel id of the thread that the state names
    uintptr_t ident; // pthread_t of the thread that the state names
    bool has_run;    // true if Python code has run in this state.
    bool ours;       // true if a thread of Ocular made this state.
    // output: record of the thread that last ran the state
    struct ThreadTrace *trace;
};

struct RunningThread {
    uintptr_t state; // 0 if the thread is outside the interpreter.
    pid_t tid;
    uintptr_t ident;
    // Number of the thread's record plus 1, or 0 if there is no record.
    unsigned number;
};

// Lists each thread once, except our own threads. Threads with a record come
// first. `states` are the interpreter's thread states, with the newest first.
// Stores in each thread record which state the thread runs, or 0 if that state
// no longer exists. The caller frees *threads with Heap_free(). Returns the
// count or -ENOMEM.
long RunningThreads_find(struct ThreadTraces *traces,
                         struct StateListed *states, size_t count,
                         struct RunningThread **threads);

#endif
