// SPDX-License-Identifier: MIT
// Which thread is meant, from one snapshot to the next: the system gives a
// thread's id to another one after its end, and then both are listed. Pure
// functions, any thread.
#ifndef OCULAR_TUI_MODEL_THREAD_KEY_H
#define OCULAR_TUI_MODEL_THREAD_KEY_H

#include "ipc/snapshot.h"

#include <stdbool.h>

struct ThreadKey {
    uint64_t tid;
    bool ended;
    char name[64]; // cut; "" = not known
};

struct ThreadKey ThreadKey_of(const struct Thread *thread);
bool ThreadKey_equal(const struct ThreadKey *a, const struct ThreadKey *b);
// The thread that most likely is the same one: of those with its id the one
// with its name, else the one that lives (or has ended) as it did, for it may
// have ended or been renamed since; but what has ended lives no more. NULL:
// there is none.
const struct Thread *ThreadKey_find(const struct ThreadKey *key,
                                    const struct Snapshot *snapshot);

#endif
