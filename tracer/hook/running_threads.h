// SPDX-License-Identifier: MIT
// The kernel's threads that run Python code, and which of the interpreter's
// thread states each of them runs. A thread state names the thread that made
// it. Another one may run it: in an embedding program, and in a child that C
// has forked. So the thread that the hooks have seen goes before that name.
// Interpreter's lock held.
#ifndef OCULAR_TRACER_HOOK_RUNNING_THREADS_H
#define OCULAR_TRACER_HOOK_RUNNING_THREADS_H

#include "tracer/hook/thread_traces.h"

// One of the interpreter's thread states, as a number.
struct StateListed {
    uintptr_t address;
    uint64_t id;               // larger for a newer one; none is used again
    pid_t tid;                 // of the thread that it names, and
    uintptr_t ident;           // ... its pthread_t
    bool has_run;              // Python code
    bool ours;                 // of a thread of Ocular's
    struct ThreadTrace *trace; // of the thread that ran it last; filled in
};

struct RunningThread {
    uintptr_t state; // 0: it is outside the interpreter
    pid_t tid;
    uintptr_t ident;
    unsigned number; // of its record, from 1 on; 0: it has none
};

// Each thread once, those with a record first, without ours. The states are the
// interpreter's, newest first. The results go into the records: which state is
// theirs, or that it is gone. *threads is for Heap_free(). The count or
// -ENOMEM.
long RunningThreads_find(struct ThreadTraces *traces,
                         struct StateListed *states, size_t count,
                         struct RunningThread **threads);

#endif
