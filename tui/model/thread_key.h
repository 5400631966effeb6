// SPDX-License-Identifier: MIT
// Identifies a thread from one snapshot to the next. The system gives a
// thread's id to another thread after its end, and then the snapshot lists
// both. Pure functions, any thread.
#ifndef OCULAR_TUI_MODEL_THREAD_KEY_H
#define OCULAR_TUI_MODEL_THREAD_KEY_H

#include "ipc/snapshot.h"

#include <stdbool.h>

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

#endif
