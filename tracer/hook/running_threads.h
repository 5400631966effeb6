// SPDX-License-Identifier: MIT
// Finds the kernel's threads that run Python code, and the interpreter's thread
// state that each of these threads runs. A thread state contains the id of the
// thread that made it. In a program that embeds Python, or in a child that C
// code has forked, a different thread can run the thread state. If hooks have
// seen a thread with this thread state, the state is assigned to that thread,
// and not to the thread that made the state. The caller of RunningThreads_find
// holds the GIL.
#pragma once

#include "tracer/hook/thread_traces.h"

// One of the interpreter's thread states.
struct StateListed {
    uintptr_t address;
    // The id of the thread state. Newer thread states have larger ids.
    uint64_t id;
    // The kernel's id of the thread that made the thread state.
    pid_t tid;
    uintptr_t ident; // pthread_t of the thread that made the thread state.
    bool has_run;    // True if Python code has run in this thread state.
    // True if one of Ocular's own threads made this thread state.
    bool ours;
    // RunningThreads_find stores here the record of the thread that last ran
    // the thread state.
    struct ThreadTrace *trace;
};

struct RunningThread {
    // Address of the thread state that the thread runs, or 0 if the thread is
    // outside of the interpreter.
    uintptr_t state;
    pid_t tid;
    uintptr_t ident;
    // Number of the thread's record plus 1, or 0 if the thread has no record.
    unsigned number;
};

// Lists each thread once, except Ocular's own threads. Threads that have a
// record come first. `states` contains the interpreter's thread states, newest
// first. Stores in each thread record the thread state that the thread runs, or
// 0 if this state no longer exists. The caller frees *threads with Heap_free().
// Returns the number of threads, or -ENOMEM.
long RunningThreads_find(struct ThreadTraces *traces,
                         struct StateListed *states, size_t count,
                         struct RunningThread **threads);
