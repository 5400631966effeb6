// SPDX-License-Identifier: MIT
// Lists the program's threads, their thread states and their names. The
// governor makes the list for the sampler, with the GIL held. If there are many
// threads, the governor updates the list less often. Each update reads only
// some names again.
#pragma once

#include "python/hooks/state.h"

// Holds the thread states of Ocular's own threads.
struct OurThreads {
    const PyThreadState *states[3]; // NULL if a thread does not run
};

struct ThreadList {
    struct ListedThread *threads;
    size_t count;
    size_t sharing;  // Number of listed threads that have a thread state.
    uint64_t newest; // Id of the newest thread state, also if it is Ocular's.
    size_t next;     // Index of the thread whose name is read next.
    uint64_t due;    // Ticks at which to update the list if no thread is new.
};

// Updates the list if the threads may have changed, and passes the list to the
// sampler. If memory is out, the old list stays. The caller holds the GIL.
void ThreadList_update(struct ThreadList *list, struct State *state,
                       const struct OurThreads *ours);
void ThreadList_release(struct ThreadList *list);
// Returns the number of Python threads, without Ocular's threads.
size_t ThreadList_count(const struct OurThreads *ours);
