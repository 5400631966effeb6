// SPDX-License-Identifier: MIT
// The threads that the sampler observes. A holder of the GIL offers a list of
// the existing threads and never waits. The sampler takes the list at its next
// wake-up. Any thread may read the shares.
#ifndef OCULAR_TRACER_SAMPLE_SAMPLED_THREADS_H
#define OCULAR_TRACER_SAMPLE_SAMPLED_THREADS_H

#include "tracer/base/ended.h"
#include "tracer/sample/sampled_thread.h"

#include <pthread.h>

// One thread of an offered list.
struct ListedThread {
    uintptr_t state; // PyThreadState; 0: the thread is outside the interpreter
    pid_t tid;       // 0: this entry is skipped
    char name[64];
    unsigned number; // differs between threads with the same id; 0: unknown
};

// The sampler's numbers of one thread.
struct ThreadShares {
    pid_t tid;
    char name[64];
    double cpu_share;
    double wait_share;
    uint64_t samples;
    double cpu_s; // CPU time since the thread was first seen
    bool ended;
    struct BreakdownRow functions[BREAKDOWN_ROWS]; // breakdown of `cpu_share`
    size_t function_count;
};

struct SampledThreadTable {
    size_t count;
    struct SampledThread *threads[];
};

struct SampledThreads {
    // Guards the set of threads, their names, and the threads that have ended.
    pthread_mutex_t lock;
    struct Ended ended;
    struct SampledThreadTable *_Atomic table; // changed by the sampler only
    // exchanged atomically, without the lock
    struct OfferedThreads *_Atomic incoming;
    // Threads that started after the list was made, linked by `next`. These
    // threads may have ended. Only the sampler's thread uses this field.
    struct SampledThread *unlisted;
};

int SampledThreads_init(struct SampledThreads *threads); // 0 or -ENOMEM
// Frees the threads, but not their timers, which are the caller's. This
// function also works in a forked child, because it does not touch the lock.
void SampledThreads_release(struct SampledThreads *threads);
// Copies the list without a lock. Returns 0 or -ENOMEM. Any thread may call
// this function.
int SampledThreads_offer(struct SampledThreads *threads,
                         const struct ListedThread *listed, size_t count);
// Takes the newest list. A thread that still exists keeps its numbers. Only the
// sampler calls this function.
void SampledThreads_take(struct SampledThreads *threads);
// Adds a thread that has made its own timer. The thread is sampled by this
// timer, and becomes a usual thread when it is on a list. Returns false if the
// thread has a timer already or memory is out, and the caller keeps the new
// timer. Only the sampler calls this function.
bool SampledThreads_add_unlisted(struct SampledThreads *threads,
                                 struct CpuTimer *timer);
// Lists the living threads and then the ended threads in *shares, which is for
// Heap_free(). Returns the count or -ENOMEM. Any thread may call this function.
long SampledThreads_shares(struct SampledThreads *threads,
                           const struct ShareTime *now,
                           struct ThreadShares **shares);
// Returns the number of ended threads that are no longer in the list.
uint64_t SampledThreads_dropped(struct SampledThreads *threads);

#endif
