// SPDX-License-Identifier: MIT
// The threads that the sampler looks at. Whoever holds the interpreter's lock
// offers a list of those that exist, without ever waiting; the sampler takes it
// over at its next wake-up, and anyone may read the shares.
#ifndef OCULAR_TRACER_SAMPLE_SUBJECTS_H
#define OCULAR_TRACER_SAMPLE_SUBJECTS_H

#include "tracer/base/ended.h"
#include "tracer/sample/subject.h"

#include <pthread.h>

struct SampledThread {
    uintptr_t state; // PyThreadState
    pid_t tid;       // 0 is skipped
    char name[64];
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

struct SubjectTable {
    size_t count;
    struct Subject *subjects[];
};

struct Subjects {
    pthread_mutex_t lock; // guards which subjects there are, their names, and
                          // those that have ended
    struct Ended ended;
    struct SubjectTable *_Atomic table;   // changed by the sampler only
    struct SubjectList *_Atomic incoming; // exchanged, not locked
    // Threads that started after the list was made, by `next`; they may have
    // ended. The sampler's thread only.
    struct Subject *unlisted;
};

int Subjects_init(struct Subjects *subjects); // 0 or -ENOMEM
// Also after a fork, in the child: it does not touch the lock. Their timers are
// the caller's.
void Subjects_release(struct Subjects *subjects);
// Copies the list; takes no lock. 0 or -ENOMEM. Any thread.
int Subjects_offer(struct Subjects *subjects,
                   const struct SampledThread *threads, size_t count);
// Takes what was offered last; who is still there keeps what it has. Sampler.
void Subjects_take(struct Subjects *subjects);
// Adds a thread that has made its own timer. It is sampled by that timer, and
// becomes a usual subject when it is on a list. false: the thread has a timer
// already, or memory is out; the caller keeps the new one. Sampler.
bool Subjects_add_unlisted(struct Subjects *subjects, struct CpuTimer *timer);
// *shares is for Heap_free(): those that live, then those that have ended;
// returns the count or -ENOMEM. Any thread.
long Subjects_shares(struct Subjects *subjects, const struct ShareTime *now,
                     struct ThreadShares **shares);
uint64_t Subjects_dropped(struct Subjects *subjects); // of those ended

#endif
