// SPDX-License-Identifier: MIT
// The program's threads, the thread states that they run, and their names.
// The governor lists them for the sampler, with the interpreter's lock: where
// there are many threads names are kept, and all are gone through less often.
#ifndef OCULAR_PYTHON_SERVICE_THREAD_LIST_H
#define OCULAR_PYTHON_SERVICE_THREAD_LIST_H

#include "python/hooks/state.h"

// The thread states of our own threads, which are none of the program's.
struct OurThreads {
    const PyThreadState *states[3]; // NULL: that one does not run
};

struct ThreadList {
    struct ListedThread *threads;
    size_t count;
    size_t sharing;  // of them, threads that are in the interpreter
    uint64_t newest; // id of the interpreter's newest thread state, ours too
    size_t next;     // the thread whose name is asked for next
    uint64_t due;    // ticks, when all are gone through; a new one is at once
};

// Interpreter's lock held. Gives the sampler a list, if it may have changed.
// Without memory: as before.
void ThreadList_update(struct ThreadList *list, struct State *state,
                       const struct OurThreads *ours);
void ThreadList_release(struct ThreadList *list);
// Python's threads, ours left out.
size_t ThreadList_count(const struct OurThreads *ours);

#endif
