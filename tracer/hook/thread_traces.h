// SPDX-License-Identifier: MIT
// Holds the records of all threads of the process, and the sums of the threads
// that have ended. The mutex `mutex` guards the list of records. A thread holds
// `mutex` only briefly, and never waits while it holds `mutex`. A visit is a
// walk through the list. During a visit the mutex `visiting` prevents other
// threads from freeing records.
#pragma once

#include "tracer/base/ended.h"
#include "tracer/hook/thread_trace.h"

#include <pthread.h>

struct ThreadTraces {
    pthread_mutex_t visiting; // Held during a visit, and taken before `mutex`.
    pthread_mutex_t mutex;
    struct ThreadTrace *first;
    unsigned next_number;
    // Ticks that each kind of hook takes, set while no hook runs.
    int64_t cost[HOOK_KINDS];
    // Ticks that an untraced call of an empty function takes.
    double call_ticks;
    // Semaphore that the timeline's rings post, or NULL. The creator of struct
    // ThreadTraces owns the semaphore.
    sem_t *half_full;
    // Callback for full rings, set while no hook runs.
    struct RingOverflow overflow;
    // `name` stores in `out` the name that the program has given to the calling
    // thread, or "" if the thread has no name. The pointer `name` can be NULL.
    void (*name)(char *out, size_t size);
    // Sums over the records that were freed since the trace began.
    struct Ended ended;
    uint64_t ended_overhead, ended_paid;
    uint64_t ended_lost;
};

struct ThreadTotals {
    uint64_t overhead; // Sum of `overhead` minus `stolen`.
    uint64_t paid;     // Sum of `paid`.
    uint64_t lost;     // Number of timeline events that full rings dropped.
};

struct TracedThread {
    pid_t tid;
    char name[64];
    uint64_t cpu_ns; // ns of CPU time since each record began or was reset.
    bool ended;
};

void ThreadTraces_init(struct ThreadTraces *traces);
// Returns a record for the calling thread at its first hook. The record is new,
// or was that of a thread that has ended.
struct ThreadTrace *ThreadTraces_add(struct ThreadTraces *traces,
                                     struct Registry *registry,
                                     struct Contention *contention,
                                     bool timeline, uint64_t ticks);
// Asks the program again for the name of the calling thread, whose record is
// `trace`. Shortly after the start of a thread, Python does not know its name
// yet. ThreadTraces_ask_name does nothing after some requests for a thread.
void ThreadTraces_ask_name(struct ThreadTraces *traces,
                           struct ThreadTrace *trace);
void ThreadTraces_copy_name(struct ThreadTraces *traces,
                            const struct ThreadTrace *trace, char name[64]);
// Resets every record. If `timeline` is true, every record gets a ring. Frees
// the records whose threads have ended. ThreadTraces_reset waits for the end of
// a visit that runs. The caller of ThreadTraces_reset holds the GIL, and the
// ring of hits is empty.
void ThreadTraces_reset(struct ThreadTraces *traces, bool timeline,
                        uint64_t ticks);
// Removes a code object, which will be freed, from all frames.
void ThreadTraces_forget(struct ThreadTraces *traces, const struct Code *code);
// Calls `visit` for every record. Only one visit runs at a time. After `visit`,
// the record of an ended thread is freed, so `visit` must empty the record's
// ring.
void ThreadTraces_visit(struct ThreadTraces *traces,
                        void (*visit)(void *context, struct ThreadTrace *trace,
                                      bool ended),
                        void *context);
// Lists all threads that have a record now, or had one since the last reset.
// Stores in *dropped the number of ended threads that are not in the list. The
// caller frees *threads with Heap_free(). Returns the number of listed threads,
// or -ENOMEM.
long ThreadTraces_threads(struct ThreadTraces *traces,
                          struct TracedThread **threads, uint64_t *dropped);
// Counts for all functions the calls that have begun and not ended (calls in
// flight, latency.h). The caller of ThreadTraces_look holds the counting lock.
void ThreadTraces_look(struct ThreadTraces *traces, struct Registry *registry);
struct ThreadTotals ThreadTraces_sum(struct ThreadTraces *traces);
// In a forked child, keeps only the record `own`, and initialises the mutexes
// again.
void ThreadTraces_keep_only(struct ThreadTraces *traces,
                            struct ThreadTrace *own);
