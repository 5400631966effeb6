// SPDX-License-Identifier: MIT
// Holds the records of all threads of the process, and the sums of the threads
// that have ended. A mutex guards the list. A thread holds this mutex only
// briefly and never waits while it holds this mutex. During a visit another
// mutex prevents that records are freed.
#ifndef OCULAR_TRACER_HOOK_THREAD_TRACES_H
#define OCULAR_TRACER_HOOK_THREAD_TRACES_H

#include "tracer/base/ended.h"
#include "tracer/hook/thread_trace.h"

#include <pthread.h>

struct ThreadTraces {
    pthread_mutex_t visiting; // held during a visit; taken before `mutex`
    pthread_mutex_t mutex;
    struct ThreadTrace *first;
    unsigned next_number;
    // Ticks of each kind of hook; set while no hook runs.
    int64_t cost[HOOK_KINDS];
    double call_ticks; // ticks that an untraced call of an empty function takes
    sem_t *half_full;  // semaphore of the rings; borrowed, may be NULL
    // overflow of the rings; set while no hook runs
    struct RingOverflow overflow;
    // A function that stores the name of the calling thread, as set by the
    // program, in `out`. Stores "" if the thread has no name. The pointer
    // `name` may be NULL.
    void (*name)(char *out, size_t size);
    // Sums of the freed records since the trace began.
    struct Ended ended;
    uint64_t ended_overhead;
    uint64_t ended_lost;
};

struct ThreadTotals {
    uint64_t overhead; // ticks of overhead without the stolen ticks
    uint64_t lost;     // timeline events that full rings dropped
    uint64_t bytes;
    unsigned count;
};

struct TracedThread {
    pid_t tid;
    char name[64];
    uint64_t cpu_ns; // CPU time since the record began or was reset
    bool ended;
};

void ThreadTraces_init(struct ThreadTraces *traces);
// Returns a record for the calling thread at its first hook. The record is new,
// or is the record of a thread that has ended.
struct ThreadTrace *ThreadTraces_add(struct ThreadTraces *traces,
                                     struct Registry *registry,
                                     struct Contention *contention,
                                     bool timeline, uint64_t ticks);
// Asks the program again for the name of the calling thread, whose record is
// `trace`. A thread runs for a moment before Python knows the thread's name.
// After some requests the function does nothing.
void ThreadTraces_ask_name(struct ThreadTraces *traces,
                           struct ThreadTrace *trace);
void ThreadTraces_copy_name(struct ThreadTraces *traces,
                            const struct ThreadTrace *trace, char name[64]);
// Resets every record. If `timeline` is true, records have rings. Frees the
// records whose threads have ended. If a visit is running, waits for the end of
// the visit. The caller holds the GIL, and the ring of hits is empty.
void ThreadTraces_reset(struct ThreadTraces *traces, bool timeline,
                        uint64_t ticks);
// Removes a code object, which is about to be freed, from all frames.
void ThreadTraces_forget(struct ThreadTraces *traces, const struct Code *code);
// Calls `visit` for every record, and allows one visitor at a time. A record
// whose thread has ended is freed after the visit, so the visitor must empty
// the record's ring.
void ThreadTraces_visit(struct ThreadTraces *traces,
                        void (*visit)(void *context, struct ThreadTrace *trace,
                                      bool ended),
                        void *context);
// Lists all threads that have a record or had a record since the last reset.
// *dropped is set to the number of ended threads that are not in the list. The
// caller frees *threads with Heap_free(). Returns the count or -ENOMEM.
long ThreadTraces_threads(struct ThreadTraces *traces,
                          struct TracedThread **threads, uint64_t *dropped);
// Counts the calls in flight of all functions (latency.h). The caller holds the
// counting lock.
void ThreadTraces_look(struct ThreadTraces *traces, struct Registry *registry);
struct ThreadTotals ThreadTraces_sum(struct ThreadTraces *traces);
// Keeps only the record `own` in a forked child, and initialises the mutexes
// again.
void ThreadTraces_keep_only(struct ThreadTraces *traces,
                            struct ThreadTrace *own);

#endif
