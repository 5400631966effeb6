// SPDX-License-Identifier: MIT
// The records of all threads of the process, and the sums of those that have
// ended. A mutex guards the list; it is held briefly and never while waiting.
// Another mutex keeps a visitor's records from being freed.
#ifndef OCULAR_TRACER_HOOK_THREAD_TRACES_H
#define OCULAR_TRACER_HOOK_THREAD_TRACES_H

#include "tracer/base/ended.h"
#include "tracer/hook/thread_trace.h"

#include <pthread.h>

struct ThreadTraces {
    pthread_mutex_t visiting; // one at a time; before the other
    pthread_mutex_t mutex;
    struct ThreadTrace *first;
    unsigned next_number;
    int64_t cost[HOOK_KINDS];     // ticks of a hook; set while no hook runs
    sem_t *half_full;             // for the rings; borrowed, may be NULL
    struct RingOverflow overflow; // of the rings; set while no hook runs
    // What the program calls the calling thread, "" if it does not; or NULL.
    void (*name)(char *out, size_t size);
    // Sums of the records that were freed since the trace began.
    struct Ended ended;
    uint64_t ended_overhead;
    uint64_t ended_lost;
};

struct ThreadTotals {
    uint64_t overhead; // ticks, less the stolen ones
    uint64_t lost;     // timeline events dropped by full rings
    uint64_t bytes;
    unsigned count;
};

struct TracedThread {
    pid_t tid;
    char name[64];
    uint64_t cpu_ns; // since its record began, or was reset
    bool ended;
};

void ThreadTraces_init(struct ThreadTraces *traces);
// A record for the calling thread, at its first hook: that of a thread that has
// ended, or a new one.
struct ThreadTrace *ThreadTraces_add(struct ThreadTraces *traces,
                                     struct Registry *registry,
                                     struct Contention *contention,
                                     bool timeline, uint64_t ticks);
// Asks once more for the name of the record's thread, which calls this:
// a thread runs for a moment before Python knows its name. Gives up after a
// while.
void ThreadTraces_ask_name(struct ThreadTraces *traces,
                           struct ThreadTrace *trace);
void ThreadTraces_copy_name(struct ThreadTraces *traces,
                            const struct ThreadTrace *trace, char name[64]);
// Resets every record, with or without a ring; records whose thread has ended
// are freed. Waits for a visit that is under way. The caller has the
// interpreter's lock, and no hit is on its way.
void ThreadTraces_reset(struct ThreadTraces *traces, bool timeline,
                        uint64_t ticks);
// A code object is about to go: no frame may point to it any more.
void ThreadTraces_forget(struct ThreadTraces *traces, const struct Code *code);
// Calls visit for every record, one visitor at a time; a record whose thread
// has ended is freed after that visit, so the visitor empties its ring.
void ThreadTraces_visit(struct ThreadTraces *traces,
                        void (*visit)(void *context, struct ThreadTrace *trace,
                                      bool ended),
                        void *context);
// All threads that have or had a record since the last reset, for Heap_free();
// of those that have ended a part, *dropped more are not among them. The count
// or -ENOMEM.
long ThreadTraces_threads(struct ThreadTraces *traces,
                          struct TracedThread **threads, uint64_t *dropped);
struct ThreadTotals ThreadTraces_sum(struct ThreadTraces *traces);
// After fork, in the child: only `own` remains; the mutexes are new.
void ThreadTraces_keep_only(struct ThreadTraces *traces,
                            struct ThreadTrace *own);

#endif
