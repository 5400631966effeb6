// SPDX-License-Identifier: MIT
// Adds up the hits that the hooks have written. Only a thread that counts
// changes the shadow stacks and the counters of functions, sites and threads.
// The counting lock guards the shadow stacks and the counters. A thread that
// takes the counting lock first counts all earlier hits. The collector counts
// if the ring is half full and before each snapshot. A hook counts if the ring
// is full, or if its event needs an answer at once.
//
// After a thread has taken the GIL and has counted, no counter changes until
// this thread releases the GIL, because no hook runs.
//
// Locks are taken in this order: the GIL, the counting lock, the locks of the
// timeline, the lock of ThreadTraces' list, and the lock of the registry's
// chains. A holder of the counting lock must not call Python and must not wait
// for the GIL.
#ifndef OCULAR_TRACER_HOOK_COUNTING_H
#define OCULAR_TRACER_HOOK_COUNTING_H

#include "tracer/hook/hit_ring.h"
#include "tracer/hook/thread_trace.h"

#include <pthread.h>

#define COUNTING_SEEN 4096 // number of code objects in the cache

// An entry of the cache of code objects. Counting_forget clears the entry
// before the code object is freed.
struct Seen {
    uintptr_t address;
    struct Code *code;
};

struct Counting {
    struct HitRing ring;
    pthread_mutex_t mutex;
    struct Registry *registry;
    struct Contention *contention;
    // Record of the thread whose hits come next in the ring, or NULL if
    // unknown.
    struct ThreadTrace *trace;
    // Number of hits of the ring that were counted since the reset.
    counter_t counted;
    counter_t ticks; // ticks that counting took
    counter_t alone; // number of events that were counted without the ring
    bool between;    // true between slices; functions that call others are then
                     // not timed
    struct Seen seen[COUNTING_SEEN];
};

void Counting_init(struct Counting *counting, struct Registry *registry,
                   struct Contention *contention, sem_t *half_full);
// Takes the counting lock and counts all hits in the ring. Any thread may call
// this function.
void Counting_begin(struct Counting *counting);
void Counting_end(struct Counting *counting);
// Takes the counting lock, counts all hits and releases the lock. All counters
// are then up to date. Any thread may call this function.
void Counting_catch_up(struct Counting *counting);
// Returns the mean ticks that counting one hit takes. The result is at most 200
// ns.
int64_t Counting_hit_ticks(const struct Counting *counting);
// Makes room in the full ring by counting the ring's hits. If another thread is
// counting, waits until that thread has counted some hits. Returns false if the
// calling thread waited. Only the producer may call this function.
bool Counting_make_room(struct Counting *counting);
// Counts a hit at once instead of writing the hit into the ring. Returns true
// if the hook should return DISABLE. The caller is between Counting_begin and
// Counting_end.
bool Counting_count(struct Counting *counting, struct ThreadTrace *trace,
                    struct Code *code, const struct Hit *hit);
// Forgets a code object, or a thread's record, that is about to be freed. The
// caller is between Counting_begin and Counting_end.
void Counting_forget(struct Counting *counting, const struct Code *code);
void Counting_forget_thread(struct Counting *counting,
                            const struct ThreadTrace *trace);
// Adds 1 to the number of events that were counted without the ring. Wakes the
// collector if the collector sleeps. The caller is between Counting_begin and
// Counting_end.
void Counting_note(struct Counting *counting);
// Prepares the ring for the next hits of this thread. `ticks` is the time of
// the newest event.
void Counting_go_on(struct Counting *counting, struct ThreadTrace *trace,
                    uint64_t ticks);
// Empties the ring after all records were reset, while no hook runs. The caller
// holds the GIL.
void Counting_reset(struct Counting *counting);
// Resets the lock and the ring in a forked child. The parent held the lock
// across the fork.
void Counting_after_fork(struct Counting *counting);
// Sets whether other programs often take the CPU. The caller holds the GIL.
void Counting_set_preempted(struct Counting *counting, bool preempted);
// Sets whether the governor is between two slices. Between slices functions
// that call others are not timed. So hooks need not ask whether other programs
// had the CPU before a call. The caller holds the GIL.
void Counting_set_between(struct Counting *counting, bool between);
// Computes HitRing.brief and HitRing.enter_brief again. If more ticks than this
// are between two events, the second hook asks whether other programs had the
// CPU. This function is called when the contention has changed. The caller
// holds the GIL.
void Counting_set_brief(struct Counting *counting);

#endif
