// SPDX-License-Identifier: MIT
// Adds up the hits that hooks have written into the ring. Only the thread that
// counts hits changes the shadow stacks (Ocular's copies of the threads'
// stacks), and the counts of functions, sites and threads. The counting lock
// guards the shadow stacks and the counts. A thread that takes the counting
// lock first counts all hits in the ring. The collector's thread counts hits
// when the ring is half full and before each snapshot. A hook counts hits
// itself if the ring is full, or if its event needs an answer at once.
//
// After a thread has taken the GIL and has counted all hits, no count changes
// until the thread releases the GIL, because no hook runs until then.
//
// Locks are taken in the order of the GIL, the counting lock, the locks of the
// timeline, the lock of the list in ThreadTraces, and the lock of the
// registry's hash chains. A holder of the counting lock must not call Python
// and must not wait for the GIL.
#pragma once

#include "tracer/hook/hit_ring.h"
#include "tracer/hook/thread_trace.h"

#include <pthread.h>

#define COUNTING_SEEN 4096 // Number of entries in the cache of code objects.
#define COUNTING_LEFT 256  // Number of entries, a power of two.

// An entry of the cache by which a code object's address leads to its struct
// Code. Counting_forget clears the entry of a code object before the code
// object is freed.
struct Seen {
    uintptr_t address;
    struct Code *code;
};

// The newest hit of a thread whose turn has ended. The record may be freed by
// now.
struct Left {
    const struct ThreadTrace *trace;
    uint64_t ticks;
};

struct Counting {
    struct HitRing ring;
    pthread_mutex_t mutex;
    struct Registry *registry;
    struct Contention *contention;
    // Record of the thread whose hits come next in the ring, or NULL if
    // unknown.
    struct ThreadTrace *trace;
    // Number of hits in the ring that were counted since the last reset.
    counter_t counted;
    counter_t ticks; // Ticks that the counting of hits took.
    counter_t alone; // Number of events that were counted without the ring.
    // True if no slice is open. (In a slice all functions have hooks.)
    bool between;
    struct Seen seen[COUNTING_SEEN];
    // Two records with the same hash share an entry. The GIL guards `left`.
    struct Left left[COUNTING_LEFT];
};

void Counting_init(struct Counting *counting, struct Registry *registry,
                   struct Contention *contention, sem_t *half_full);
// Takes the counting lock and counts all hits in the ring. Any thread may call
// Counting_begin.
void Counting_begin(struct Counting *counting);
void Counting_end(struct Counting *counting);
// A hook of `trace` calls Counting_turn at the time `now`, if it is not sure
// that the newest hit in the ring is from its thread. Returns the ticks since
// the newest hit of the thread, or 0 if this hit is not known.
int64_t Counting_turn(struct Counting *counting,
                      const struct ThreadTrace *trace, uint64_t now);
// Takes the counting lock, counts all hits in the ring and releases the lock.
// After Counting_catch_up all counts are up to date. Any thread may call
// Counting_catch_up.
void Counting_catch_up(struct Counting *counting);
// Returns the mean number of ticks that counting one hit takes. The result is
// at most the ticks of 200 ns.
int64_t Counting_hit_ticks(const struct Counting *counting);
// Counts hits of a full ring, so that new hits have room. If another thread is
// already counting, Counting_make_room waits until that thread has made room.
// Returns false if the calling thread has waited for another thread. Only the
// thread that writes hits may call Counting_make_room.
bool Counting_make_room(struct Counting *counting);
// Counts a hit at once, without writing it into the ring. Returns true if the
// hook should return DISABLE. Counting_count is called between Counting_begin
// and Counting_end.
bool Counting_count(struct Counting *counting, struct ThreadTrace *trace,
                    struct Code *code, const struct Hit *hit);
// Forgets a code object or a thread's record that will be freed.
// Counting_forget is called between Counting_begin and Counting_end.
void Counting_forget(struct Counting *counting, const struct Code *code);
void Counting_forget_thread(struct Counting *counting,
                            const struct ThreadTrace *trace);
// Adds 1 to the number of events that were counted at once, without the ring.
// If the collector's thread sleeps, Counting_note wakes it. Counting_note is
// called between Counting_begin and Counting_end.
void Counting_note(struct Counting *counting);
// Prepares the ring for the next hits of the thread with the record `trace`.
// `ticks` is the time of the newest event.
void Counting_go_on(struct Counting *counting, struct ThreadTrace *trace,
                    uint64_t ticks);
// Empties the ring after all thread records were reset. No hook runs during the
// call. The caller of Counting_reset holds the GIL.
void Counting_reset(struct Counting *counting);
// In a forked child, resets the counting lock and the ring. The parent held the
// counting lock during the fork.
void Counting_after_fork(struct Counting *counting);
// Sets whether other programs often take the CPU from the process. The caller
// of Counting_set_preempted holds the GIL.
void Counting_set_preempted(struct Counting *counting, bool preempted);
// Sets whether no slice is open at present (`between`). Between slices,
// functions that call other functions are not timed. A hook at the beginning of
// a call then need not ask whether other programs had the CPU. The caller of
// Counting_set_between holds the GIL.
void Counting_set_between(struct Counting *counting, bool between);
// Computes HitRing.brief and HitRing.enter_brief again. If the ticks between
// two events exceed these values, the hook of the second event asks whether
// other programs had the CPU. Counting_set_brief is called after struct
// Contention has changed. The caller of Counting_set_brief holds the GIL.
void Counting_set_brief(struct Counting *counting);
