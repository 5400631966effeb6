// SPDX-License-Identifier: MIT
// The threads that the sampler observes. A holder of the interpreter's lock
// offers a list of those that exist, without ever waiting; the sampler takes it
// over at its next wake-up, and anyone may read the shares.
#ifndef OCULAR_TRACER_SAMPLE_SAMPLED_THREADS_H
#define OCULAR_TRACER_SAMPLE_SAMPLED_THREADS_H

#include "tracer/base/ended.h"
#include "tracer/sample/sampled_thread.h"

#include <pthread.h>

// One of that list.
struct ListedThread {
    uintptr_t state; // PyThreadState; 0: it is outside the interpreter
    pid_t tid;       // 0 is skipped
    char name[64];
    unsigned
        number; // another one for another thread with that id; 0: not known
};

// A thread's numbers, as seen by the sampler.
struct ThreadShares {
    pid_t tid;
    char name[64];
    double cpu_share;
    double wait_share;
    uint64_t samples;
    double cpu_s; // since it was first seen
    bool ended;
    struct BreakdownRow functions[BREAKDOWN_ROWS]; // of cpu_share
    size_t function_count;
};

struct SampledThreadTable {
    size_t count;
    struct SampledThread *threads[];
};

struct SampledThreads {
    pthread_mutex_t lock; // guards which threads there are, their names, and
                          // those that have ended
    struct Ended ended;
    struct SampledThreadTable *_Atomic table; // changed by the sampler only
    struct OfferedThreads *_Atomic incoming;  // exchanged, not locked
    // Threads that started after the list was made, by `next`; they may have
    // ended. The sampler's thread only.
    struct SampledThread *unlisted;
};

int SampledThreads_init(struct SampledThreads *threads); // 0 or -ENOMEM
// Also after a fork, in the child: it does not touch the lock. Their timers are
// the caller's.
void SampledThreads_release(struct SampledThreads *threads);
// Copies the list; takes no lock. 0 or -ENOMEM. Any thread.
int SampledThreads_offer(struct SampledThreads *threads,
                         const struct ListedThread *listed, size_t count);
// Takes the newest list; a thread that is still there keeps its numbers.
// Sampler.
void SampledThreads_take(struct SampledThreads *threads);
// Adds a thread that has made its own timer. It is sampled by that timer, and
// becomes a usual one when it is on a list. false: the thread has a timer
// already, or memory is out; the caller keeps the new one. Sampler.
bool SampledThreads_add_unlisted(struct SampledThreads *threads,
                                 struct CpuTimer *timer);
// *shares is for Heap_free(): those that live, then those that have ended;
// returns the count or -ENOMEM. Any thread.
long SampledThreads_shares(struct SampledThreads *threads,
                           const struct ShareTime *now,
                           struct ThreadShares **shares);
// The number of ended threads that are not in the list any more.
uint64_t SampledThreads_dropped(struct SampledThreads *threads);

#endif
