// SPDX-License-Identifier: MIT
// All lanes of the process, and what those that have ended leave behind. A
// mutex guards the list; it is held briefly and never while waiting. Another
// keeps what a visitor works with from going.
#ifndef OCULAR_TRACER_LANES_H
#define OCULAR_TRACER_LANES_H

#include "tracer/lane.h"

#include <pthread.h>

struct Lanes {
    pthread_mutex_t visiting; // one at a time; before the other
    pthread_mutex_t mutex;
    struct Lane *first;
    unsigned next_number;
    sem_t *half_full; // for the rings; borrowed, may be NULL
    // Sums of lanes that were freed since the trace began.
    uint64_t ended_debt;
    uint64_t ended_lost;
};

struct LanesTotals {
    uint64_t debt; // ticks
    uint64_t lost; // timeline events dropped by full rings
    uint64_t bytes;
    unsigned count;
};

void Lanes_init(struct Lanes *lanes);
// A new lane for the calling thread; at first sight of a thread.
struct Lane *Lanes_add(struct Lanes *lanes, struct Registry *registry,
                       struct Contention *contention,
                       const int64_t cost[HOOK_KINDS], bool timeline,
                       uint64_t ticks);
// Every lane starts anew, with or without a ring, and lanes whose thread has
// ended go. Waits for a visit that is under way. With the interpreter's lock
// held.
void Lanes_reset(struct Lanes *lanes, const int64_t cost[HOOK_KINDS],
                 bool timeline, uint64_t ticks);
// A code object is about to go: no frame may point to it any more.
void Lanes_forget(struct Lanes *lanes, const struct Code *code);
// Calls visit for every lane, one visitor at a time; a lane whose thread has
// ended is freed after that visit, so the visitor empties its ring.
void Lanes_visit(struct Lanes *lanes,
                 void (*visit)(void *context, struct Lane *lane, bool ended),
                 void *context);
// The same for who only looks: nothing is freed.
void Lanes_look(struct Lanes *lanes,
                void (*look)(void *context, struct Lane *lane), void *context);
struct LanesTotals Lanes_sum(struct Lanes *lanes);
// After fork, in the child: only `own` remains; the mutexes are new.
void Lanes_keep_only(struct Lanes *lanes, struct Lane *own);

#endif
