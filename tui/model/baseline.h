// SPDX-License-Identifier: MIT
// struct Mark contains the numbers of threads and the counts of transitions at
// the time when the user pressed r (reset) or b (baseline). (The numbers of
// functions are in struct Row.) The model owns the marks.
#pragma once

#include "ipc/snapshot.h"

#include <stdbool.h>

// Identifies a thread across snapshots. After the end of a thread, the system
// may give its id to another thread. In this case the snapshot lists both
// threads with this id.
struct ThreadKey {
    uint64_t tid;
    bool ended;
    char name[64]; // Shortened name of the thread, or "" if it is not known.
};

struct ThreadKey ThreadKey_of(const struct Thread *thread);
bool ThreadKey_equal(const struct ThreadKey *a, const struct ThreadKey *b);
// Returns the thread of the snapshot that most likely has this key, or NULL.
// Since the key was made, the thread may have ended or changed its name. Of
// several threads with the key's id, a thread with the key's name is preferred,
// and after that a thread with the same `ended`. The key of an ended thread is
// never that of a running thread.
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

struct Mark { // A struct of zero bytes has no numbers.
    struct ThreadMark *threads;
    size_t thread_count;
    struct PairMark *pairs;
    size_t pair_count;
};

// Replaces the numbers in `mark` by the snapshot's numbers. Returns 0, or
// -ENOMEM with an empty `mark`.
int Mark_take(struct Mark *mark, const struct Snapshot *snapshot);
void Mark_release(struct Mark *mark);
// Returns the numbers that `mark` has for a thread of a later snapshot. Returns
// NULL if it has none, or if the thread did not exist when the mark was made.
// (Another thread may have had the same id when the mark was made.)
const struct ThreadMark *Mark_thread(const struct Mark *mark,
                                     const struct Thread *thread);
// Returns the count that `mark` has for a transition, or 0 if the marked
// snapshot did not have this transition.
double Mark_pair(const struct Mark *mark, const struct TransitionPair *pair);
