// SPDX-License-Identifier: MIT
// A mark has the numbers of threads and the counts of transitions at the time
// when the user pressed r or b. (The numbers of functions are in struct Row.)
// The model owns the marks. Only one thread calls these functions.
#ifndef OCULAR_TUI_MODEL_BASELINE_H
#define OCULAR_TUI_MODEL_BASELINE_H

#include "ipc/snapshot.h"

#include <stdbool.h>

// Identifies a thread across snapshots. When a thread ends, the system may give
// its id to another thread. The snapshot then lists both threads with this id.
struct ThreadKey {
    uint64_t tid;
    bool ended;
    char name[64]; // shortened; "": not known
};

struct ThreadKey ThreadKey_of(const struct Thread *thread);
bool ThreadKey_equal(const struct ThreadKey *a, const struct ThreadKey *b);
// The key belongs to at most one thread of the snapshot. Returns the most
// likely thread, or NULL. Since the key was made, the thread may have ended or
// changed its name. Among the threads with the same id, ThreadKey_find prefers
// the thread with the same name, and after that the thread with the same
// `ended`. An ended thread does not run again.
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

// Replaces the stored numbers by the snapshot's numbers. Returns 0, or -ENOMEM
// with nothing stored.
int Mark_take(struct Mark *mark, const struct Snapshot *snapshot);
void Mark_release(struct Mark *mark);
// Returns the stored numbers of a thread of a later snapshot. Returns NULL if
// nothing is stored, or if the thread did not exist at the mark. (Another
// thread may have had the same id at the mark.)
const struct ThreadMark *Mark_thread(const struct Mark *mark,
                                     const struct Thread *thread);
// Returns the stored count of a transition, or 0 if the marked snapshot did not
// have the transition.
double Mark_pair(const struct Mark *mark, const struct TransitionPair *pair);

#endif
