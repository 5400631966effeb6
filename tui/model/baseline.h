// SPDX-License-Identifier: MIT
// The numbers of threads, and the counts of transitions, when the user pressed
// r or b. Rows keep those of functions. Owned by the model. One thread.
#ifndef OCULAR_TUI_MODEL_BASELINE_H
#define OCULAR_TUI_MODEL_BASELINE_H

#include "ipc/snapshot.h"

#include <stdbool.h>

// Identifies a thread from one snapshot to the next. The system gives a
// thread's id to another thread after its end, and then the snapshot lists
// both.
struct ThreadKey {
    uint64_t tid;
    bool ended;
    char name[64]; // cut off; "": not known
};

struct ThreadKey ThreadKey_of(const struct Thread *thread);
bool ThreadKey_equal(const struct ThreadKey *a, const struct ThreadKey *b);
// Returns the thread that most likely is the same one, or NULL. Of those with
// its id it is the one with its name, else the one that runs (or has ended) as
// it did, for it may have ended or changed its name. A thread that has ended
// does not run again.
const struct Thread *ThreadKey_find(const struct ThreadKey *key,
                                    const struct Snapshot *snapshot);

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
