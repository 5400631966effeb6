// SPDX-License-Identifier: MIT
// Adds up the hits that the hooks have written down: the shadow stacks and all
// counters of functions, sites and threads are changed here alone. The counting
// lock guards them; its holder has counted all hits that came before. The
// collector counts when the ring is half full and before each snapshot; a hook
// does whose ring is full, or whose event needs an answer at once.
//
// A thread that has counted since it took the interpreter's lock finds all of
// it at rest: no hook runs meanwhile.
//
// Lock order: the interpreter's lock, then this one, then those of the
// timeline, of ThreadTraces' list and of the registry's chains. Nobody calls
// Python or waits for the interpreter while holding it.
#ifndef OCULAR_TRACER_HOOK_COUNTING_H
#define OCULAR_TRACER_HOOK_COUNTING_H

#include "tracer/hook/hit_ring.h"
#include "tracer/hook/thread_trace.h"

#include <pthread.h>

#define COUNTING_SEEN 4096 // code objects remembered, by address

// Cleared when the code goes (Counting_forget).
struct Seen {
    uintptr_t address;
    struct Code *code;
};

struct Counting {
    struct HitRing ring;
    pthread_mutex_t mutex;
    struct Registry *registry;
    struct Contention *contention;
    struct ThreadTrace *trace; // whose hits come; NULL: not known
    counter_t counted;         // hits of the ring, since the reset
    counter_t ticks;           // that this took
    counter_t alone;           // what came past the ring
    bool between;              // slices: no caller's time is taken
    struct Seen seen[COUNTING_SEEN];
};

void Counting_init(struct Counting *counting, struct Registry *registry,
                   struct Contention *contention, sem_t *half_full);
// Takes the lock, and counts the hits that have come. Any thread.
void Counting_begin(struct Counting *counting);
void Counting_end(struct Counting *counting);
// Both: the counters are up to date. Any thread.
void Counting_catch_up(struct Counting *counting);
// Ticks that counting a hit has taken, on average; at most 200 ns.
int64_t Counting_hit_ticks(const struct Counting *counting);
// The ring is full: counts its hits, or waits until another thread has counted
// some of them; false: it has waited. The producer.
bool Counting_make_room(struct Counting *counting);
// In between: counts a hit that is not in the ring, while its hook waits. true:
// DISABLE the site.
bool Counting_count(struct Counting *counting, struct ThreadTrace *trace,
                    struct Code *code, const struct Hit *hit);
// In between: a code object, or a thread's record, is about to go.
void Counting_forget(struct Counting *counting, const struct Code *code);
void Counting_forget_thread(struct Counting *counting,
                            const struct ThreadTrace *trace);
// In between: something came that is in no ring. It wakes up the collector.
void Counting_note(struct Counting *counting);
// The hooks go on from here, at `ticks`, on this thread.
void Counting_go_on(struct Counting *counting, struct ThreadTrace *trace,
                    uint64_t ticks);
// All records have been reset, and no hook runs: the ring is empty again.
// Interpreter's lock.
void Counting_reset(struct Counting *counting);
// In the child of a fork, for which the lock was held.
void Counting_after_fork(struct Counting *counting);
// Other programs often take the CPU, or not. Interpreter's lock.
void Counting_set_preempted(struct Counting *counting, bool preempted);
// Between slices functions that call others are not timed: then nobody needs to
// know who had the CPU before a call began. Interpreter's lock.
void Counting_set_between(struct Counting *counting, bool between);
// When the contention has changed: how long after its last hit a hook needs not
// ask whether others had the CPU. Interpreter's lock.
void Counting_set_brief(struct Counting *counting);

#endif
