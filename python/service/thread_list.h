// SPDX-License-Identifier: MIT
// The program's thread states and their names, listed for the sampler by the
// governor, which holds the interpreter's lock for it: where there are many
// threads names are kept, and all are gone through less often.
#ifndef OCULAR_PYTHON_SERVICE_THREAD_LIST_H
#define OCULAR_PYTHON_SERVICE_THREAD_LIST_H

#include "python/hooks/state.h"

// The thread states of our own threads, which are none of the program's.
struct OurThreads {
    const PyThreadState *states[3]; // NULL: that one does not run
};

struct ThreadList {
    struct ListedThread *threads; // newest first, as the interpreter has them
    size_t count;
    uint64_t newest; // id of the interpreter's newest thread state, ours too
    size_t next;     // whose name is asked for anew
    uint64_t due;    // ticks, when all are gone through; a new one is at once
};

// Interpreter's lock held. Gives the sampler a list, where it may have changed.
// Without memory: as before.
void ThreadList_update(struct ThreadList *list, struct State *state,
                       const struct OurThreads *ours);
void ThreadList_release(struct ThreadList *list);
// Python's threads, ours left out.
size_t ThreadList_count(const struct OurThreads *ours);

#endif
