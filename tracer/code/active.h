// SPDX-License-Identifier: MIT
// The functions of which something may change: they have been hit or sampled in
// the last seconds, or are dark. All others are idle, and nobody walks over
// them: what our threads take follows from what happens, and not from how much
// is known.
//
// Any thread wakes a function up, without a lock. The governor lets those go
// that have been idle for a minute, and walks over the others; so does whoever
// builds a snapshot.
#ifndef OCULAR_TRACER_CODE_ACTIVE_H
#define OCULAR_TRACER_CODE_ACTIVE_H

#include "tracer/code/arming.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define ACTIVE_AHEAD 8 // codes that are fetched while others are looked at

struct Active {
    struct Code *_Atomic woken; // a stack by node.next_woken
    pthread_mutex_t mutex;      // guards the next three
    struct Code **codes;        // in no order
    size_t count, room;
    _Atomic size_t let_go; // idle ones that are among `codes` still
    struct Slice slice;
};

// Ids of some of them.
struct ActiveIds { // all zero: none
    uint32_t *ids;
    size_t count, room;
};

void Active_init(struct Active *active);
void Active_release(struct Active *active);
// A new code object, active.
void Active_add(struct Active *active, struct Code *code);
// It was hit: from now on it is active, and as others are in this slice.
// Counting lock, before the hit is counted.
void Active_hit(struct Active *active, struct Code *code, uint64_t ticks);
// One that a walk has found is idle from now on, unless it has been hit since
// `ticks`, or sampled since plan.sampled_ns, or may not be: it is dark, say.
// true: it is. The governor, with the counting lock.
bool Active_let_go(struct Active *active, struct Code *code, uint64_t ticks);
// Nobody can wake it up any more, and it is to be freed.
void Active_remove(struct Active *active, struct Code *code);

// Around a walk over `codes`. Not with the counting lock, nor with the
// interpreter's.
void Active_begin(struct Active *active);
void Active_end(struct Active *active);
// Those of all of them. false: some are missing, as memory is out.
bool Active_list(struct Active *active, struct ActiveIds *list);
bool ActiveIds_add(struct ActiveIds *list, uint32_t id);
void ActiveIds_release(struct ActiveIds *list);

// In a walk that is at `at`: what it will read of one further on.
static inline void Active_fetch(const struct Active *active, size_t at)
{
    const struct Code *code;

    if (at + ACTIVE_AHEAD >= active->count)
        return;
    code = active->codes[at + ACTIVE_AHEAD];
    __builtin_prefetch(&code->hot);
    __builtin_prefetch(&code->hot.last_seen);
    __builtin_prefetch(&code->share.cpu);
    __builtin_prefetch(&code->spans);
    __builtin_prefetch(&code->plan);
    __builtin_prefetch(&code->plan.rate);
}

#endif
