// SPDX-License-Identifier: MIT
// See thread_key.h.
#include "tui/model/thread_key.h"

#include <stdio.h>
#include <string.h>

struct ThreadKey ThreadKey_of(const struct Thread *thread)
{
    struct ThreadKey key = {.tid = thread->tid, .ended = thread->ended == 1};
    snprintf(key.name, sizeof key.name, "%s", thread->name ? thread->name : "");
    return key;
}

bool ThreadKey_equal(const struct ThreadKey *a, const struct ThreadKey *b)
{
    return a->tid == b->tid && a->ended == b->ended &&
           !strcmp(a->name, b->name);
}

const struct Thread *ThreadKey_find(const struct ThreadKey *key,
                                    const struct Snapshot *snapshot)
{
    const struct Thread *found = NULL;
    int best = -1;
    for (size_t i = 0; i < snapshot->thread_count; i++) {
        const struct Thread *one = &snapshot->threads[i];
        if (one->tid != key->tid)
            continue;
        struct ThreadKey is = ThreadKey_of(one);
        if (key->ended && !is.ended)
            continue; // a thread that has ended does not run again
        int likeness =
            2 * !strcmp(is.name, key->name) + (is.ended == key->ended);
        if (likeness <= best)
            continue;
        best = likeness;
        found = one;
    }
    return found;
}
