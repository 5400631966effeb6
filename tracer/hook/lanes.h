// SPDX-License-Identifier: MIT
// All lanes of the process, and what those that have ended leave behind. A
// mutex guards the list; it is held briefly and never while waiting. Another
// keeps what a visitor works with from going.
#ifndef OCULAR_TRACER_HOOK_LANES_H
#define OCULAR_TRACER_HOOK_LANES_H

#include "tracer/base/ended.h"
#include "tracer/hook/lane.h"

#include <pthread.h>

struct Lanes {
    pthread_mutex_t visiting; // one at a time; before the other
    pthread_mutex_t mutex;
    struct Lane *first;
    unsigned next_number;
    sem_t *half_full; // for the rings; borrowed, may be NULL
    // What the program calls the calling thread, "" if it does not; or NULL.
    void (*name)(char *out, size_t size);
    // Sums of lanes that were freed since the trace began.
    struct Ended ended;
    uint64_t ended_debt;
    uint64_t ended_lost;
};

struct LanesTotals {
    uint64_t debt; // ticks, less what was kept
    uint64_t lost; // timeline events dropped by full rings
    uint64_t bytes;
    unsigned count;
};

struct LaneThread {
    pid_t tid;
    char name[64];
    uint64_t cpu_ns; // since its lane began, or began anew
    bool ended;
};

void Lanes_init(struct Lanes *lanes);
// A new lane for the calling thread; at first sight of a thread.
struct Lane *Lanes_add(struct Lanes *lanes, struct Registry *registry,
                       struct Contention *contention,
                       const int64_t cost[HOOK_KINDS], bool timeline,
                       uint64_t ticks);
// Asks once more what the program calls the lane's thread, which calls this: a
// thread runs for a moment before Python knows its name. Gives up after a
// while.
void Lanes_ask_name(struct Lanes *lanes, struct Lane *lane);
void Lanes_copy_name(struct Lanes *lanes, const struct Lane *lane,
                     char name[64]);
// Every lane starts anew, with or without a ring, and lanes whose thread has
// ended go. Waits for a visit that is under way. With the interpreter's lock
// held.
void Lanes_reset(struct Lanes *lanes, const int64_t cost[HOOK_KINDS],
                 bool timeline, uint64_t ticks);
// What a hook costs from now on. With the interpreter's lock held.
void Lanes_set_cost(struct Lanes *lanes, const int64_t cost[HOOK_KINDS]);
// A code object is about to go: no frame may point to it any more.
void Lanes_forget(struct Lanes *lanes, const struct Code *code);
// Calls visit for every lane, one visitor at a time; a lane whose thread has
// ended is freed after that visit, so the visitor empties its ring.
void Lanes_visit(struct Lanes *lanes,
                 void (*visit)(void *context, struct Lane *lane, bool ended),
                 void *context);
// All threads that have or had a lane since the last reset, for Heap_free(); of
// those that have ended a part, *dropped more are not among them. The count or
// -ENOMEM.
long Lanes_threads(struct Lanes *lanes, struct LaneThread **threads,
                   uint64_t *dropped);
struct LanesTotals Lanes_sum(struct Lanes *lanes);
// After fork, in the child: only `own` remains; the mutexes are new.
void Lanes_keep_only(struct Lanes *lanes, struct Lane *own);

#endif
