// SPDX-License-Identifier: MIT
// The numbers of threads, and the counts of transitions, when the user pressed
// r or b. Rows keep those of functions. Owned by the model. One thread.
#ifndef OCULAR_TUI_MODEL_MARK_H
#define OCULAR_TUI_MODEL_MARK_H

#include "tui/model/thread_key.h"

struct ThreadMark {
    struct ThreadKey key;
    double cpu_share;
    double wait_share;
    double cpu_s;
    double samples;
};

struct PairMark {
    char from[64];
    char to[64];
    double count;
};

struct Mark { // zeroed: nothing is marked
    struct ThreadMark *threads;
    size_t thread_count;
    struct PairMark *pairs;
    size_t pair_count;
};

// Remembers the snapshot's numbers and forgets older ones. 0, or -ENOMEM:
// nothing is marked.
int Mark_take(struct Mark *mark, const struct Snapshot *snapshot);
void Mark_release(struct Mark *mark);
// Returns what that thread of a later snapshot had then. NULL: it was not there
// (its id may have been another thread's), or nothing is marked.
const struct ThreadMark *Mark_thread(const struct Mark *mark,
                                     const struct Thread *thread);
// Returns the count of a change then; 0: it was not there.
double Mark_pair(const struct Mark *mark, const struct TransitionPair *pair);

#endif
