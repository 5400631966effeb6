// SPDX-License-Identifier: MIT
#include "tui/model/baseline.h"

#include "tui/model/row.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- Which thread

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
            continue; // An ended thread does not run again.
        int likeness =
            2 * !strcmp(is.name, key->name) + (is.ended == key->ended);
        if (likeness <= best)
            continue;
        best = likeness;
        found = one;
    }
    return found;
}

// --- Marks

static void name(char out[64], const char *text)
{
    snprintf(out, 64, "%s", text ? text : "");
}

int Mark_take(struct Mark *mark, const struct Snapshot *snapshot)
{
    size_t threads = snapshot->thread_count;
    size_t pairs = snapshot->transition_pair_count;
    Mark_release(mark);
    mark->threads = calloc(threads + 1, sizeof *mark->threads);
    mark->pairs = calloc(pairs + 1, sizeof *mark->pairs);
    if (!mark->threads || !mark->pairs) {
        Mark_release(mark);
        return -ENOMEM;
    }
    for (size_t i = 0; i < threads; i++) {
        const struct Thread *one = &snapshot->threads[i];
        mark->threads[i] = (struct ThreadMark){
            ThreadKey_of(one), one->cpu_share, one->wait_share, one->cpu_s,
            Row_u64(one->samples)};
    }
    for (size_t i = 0; i < pairs; i++) {
        const struct TransitionPair *one = &snapshot->transition_pairs[i];
        name(mark->pairs[i].from, one->from);
        name(mark->pairs[i].to, one->to);
        mark->pairs[i].count = Row_u64(one->count);
    }
    mark->thread_count = threads;
    mark->pair_count = pairs;
    return 0;
}

void Mark_release(struct Mark *mark)
{
    free(mark->threads);
    free(mark->pairs);
    *mark = (struct Mark){0};
}

// Returns true if the thread may be the marked thread at a later time. An ended
// thread does not run again, the CPU time only grows, and another name means
// another thread.
static bool may_be(const struct ThreadMark *mark, const struct ThreadKey *now,
                   double cpu_s)
{
    const struct ThreadKey *then = &mark->key;
    return then->tid == now->tid && !(then->ended && !now->ended) &&
           !(mark->cpu_s > cpu_s) &&
           (!*then->name || !*now->name || !strcmp(then->name, now->name));
}

const struct ThreadMark *Mark_thread(const struct Mark *mark,
                                     const struct Thread *thread)
{
    const struct ThreadMark *found = NULL;
    struct ThreadKey now = ThreadKey_of(thread);
    for (size_t i = 0; i < mark->thread_count; i++) {
        const struct ThreadMark *one = &mark->threads[i];
        if (!may_be(one, &now, thread->cpu_s))
            continue;
        if (one->key.ended == now.ended)
            return one;
        found = one;
    }
    return found;
}

double Mark_pair(const struct Mark *mark, const struct TransitionPair *pair)
{
    char from[64], to[64];
    name(from, pair->from);
    name(to, pair->to);
    for (size_t i = 0; i < mark->pair_count; i++)
        if (!strcmp(mark->pairs[i].from, from) &&
            !strcmp(mark->pairs[i].to, to))
            return mark->pairs[i].count;
    return 0;
}
