// SPDX-License-Identifier: MIT
// Finds the kernel's threads that run Python code, and the interpreter's thread
// state that each thread runs. A thread state names the thread that made it.
// Another thread may run the state: in an embedding program, and in a child
// that C has forked. So the thread that the hooks have seen takes precedence
// over the named thread. The caller holds the GIL.
#ifndef OCULAR_TRACER_HOOK_RUNNING_THREADS_H
#define OCULAR_TRACER_HOOK_RUNNING_THREADS_H

#include "tracer/hook/thread_traces.h"

// One of the interpreter's thread states.
struct StateListed {
    uintptr_t address;
    uint64_t id;               // a newer state has a larger id
    pid_t tid;                 // id of the thread that the state names
    uintptr_t ident;           // pthread_t of the same thread
    bool has_run;              // Python code has run in this state
    bool ours;                 // the state of one of Ocular's threads
    struct ThreadTrace *trace; // output: the thread that ran the state last
};

struct RunningThread {
    uintptr_t state; // 0: the thread is outside the interpreter
    pid_t tid;
    uintptr_t ident;
    unsigned number; // number of the thread's record plus 1; 0: no record
};

// Lists each thread once, threads with a record first, without our own threads.
// `states` are the interpreter's thread states, the newest first. Each record
// notes its state, or that its state does not exist any more. The caller frees
// *threads with Heap_free(). Returns the count or -ENOMEM.
long RunningThreads_find(struct ThreadTraces *traces,
                         struct StateListed *states, size_t count,
                         struct RunningThread **threads);

#endif
