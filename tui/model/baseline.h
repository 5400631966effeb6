// SPDX-License-Identifier: MIT
// The numbers of threads and the counts of transitions at the time when the
// user pressed r or b. Rows store the numbers of functions. Owned by the model.
// One thread.
#ifndef OCULAR_TUI_MODEL_BASELINE_H
#define OCULAR_TUI_MODEL_BASELINE_H

#include "ipc/snapshot.h"

#include <stdbool.h>

// Identifies a thread across snapshots. When a thread ends, the system may give
// its id to another thread; the snapshot then lists both.
struct ThreadKey {
    uint64_t tid;
    bool ended;
    char name[64]; // shortened; "": not known
};

struct ThreadKey ThreadKey_of(const struct Thread *thread);
bool ThreadKey_equal(const struct ThreadKey *a, const struct ThreadKey *b);
// Returns the thread of the snapshot that is most likely the same one, or NULL.
// Among the threads with the same id, the function prefers the one with the
// same name, else the one that also runs (or has also ended). The thread
// may have ended or changed its name since. A thread that has ended does not
// run again.
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

struct Mark { // a zeroed mark has no numbers
    struct ThreadMark *threads;
    size_t thread_count;
    struct PairMark *pairs;
    size_t pair_count;
};

// Stores the snapshot's numbers in place of older ones. Returns 0, or -ENOMEM
// with nothing stored.
int Mark_take(struct Mark *mark, const struct Snapshot *snapshot);
void Mark_release(struct Mark *mark);
// Returns the stored numbers of a thread of a later snapshot. Returns NULL if
// the thread did not exist at the mark (another thread may have had its id), or
// if nothing is stored.
const struct ThreadMark *Mark_thread(const struct Mark *mark,
                                     const struct Thread *thread);
// Returns the stored count of a transition, or 0 if it was not in the snapshot.
double Mark_pair(const struct Mark *mark, const struct TransitionPair *pair);

#endif
