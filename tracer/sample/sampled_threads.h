// SPDX-License-Identifier: MIT
// struct SampledThreads keeps the threads that the sampler observes. A thread
// that holds the GIL hands over (offers) a list of all Python threads, and
// never waits for the sampler. The sampler's thread takes the list when it
// wakes up. Any thread may read the shares of the threads.
#pragma once

#include "tracer/base/ended.h"
#include "tracer/sample/sampled_thread.h"

#include <pthread.h>

// One Python thread in an offered list.
struct ListedThread {
    // PyThreadState, or 0 if the thread is outside the interpreter.
    uintptr_t state;
    // Id of the thread, or 0 if this entry of the list must be skipped.
    pid_t tid;
    char name[64];
    // A number that is different for two threads with the same thread id, of
    // which one has ended, or 0 if unknown.
    unsigned number;
};

struct SampledThreadTable {
    size_t count;
    struct SampledThread *threads[];
};

struct SampledThreads {
    // Guards the set of threads, the threads' names, `ended`, and
    // GilWatch.longest.
    pthread_mutex_t lock;
    struct Ended ended;
    // Only the sampler's thread changes `table`.
    struct SampledThreadTable *_Atomic table;
    // The newest list of threads that was offered, or NULL. Threads exchange
    // `incoming` atomically, without the lock.
    struct OfferedThreads *_Atomic incoming;
};

// Returns 0 or -ENOMEM.
int SampledThreads_init(struct SampledThreads *threads);
// Frees all sampled threads but not their timers. SampledThreads_release also
// works in a forked child, because it does not touch the lock.
void SampledThreads_release(struct SampledThreads *threads);
// Hands over a list of threads to the sampler. Copies the list, and takes no
// lock. Returns 0 or -ENOMEM. Any thread may call SampledThreads_offer.
int SampledThreads_offer(struct SampledThreads *threads,
                         const struct ListedThread *listed, size_t count);
// Takes the newest list that was offered. Threads that still exist keep their
// numbers. The waits of the others are settled (Attribution_settle_wait). Only
// the sampler calls SampledThreads_take. If `all` is true, also adds the
// threads that are in no list, because they never ran Python code.
void SampledThreads_take(struct SampledThreads *threads,
                         const struct Attribution *attribution,
                         const struct ShareTime *now, bool all);
// Adds a new thread that has made its own timer, before a list contains the
// thread. Returns false if the thread has a timer already or there is no
// memory. If the result is false, the caller still owns the timer. Only the
// sampler calls SampledThreads_begin.
bool SampledThreads_begin(struct SampledThreads *threads,
                          struct CpuTimer *timer);
// Fills in a snapshot's rows of the living threads and then of the ended
// threads, and makes room for `more` rows. The name of a thread is null if it
// is not known yet. Returns the rows, which may be changed, or NULL if there is
// no memory. Any thread may call SampledThreads_fill.
struct Thread *SampledThreads_fill(struct SampledThreads *threads,
                                   const struct ShareTime *now,
                                   struct Snapshot *snapshot, size_t more);
