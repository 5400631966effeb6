// SPDX-License-Identifier: MIT
// One sampled Python thread: its clocks, its timer, the stack it had when it
// last ran, and its shares. Only the sampler's thread changes it; its shares
// may be read by anyone.
#ifndef OCULAR_TRACER_SAMPLE_SAMPLED_THREAD_H
#define OCULAR_TRACER_SAMPLE_SAMPLED_THREAD_H

#include "tracer/sample/attribution.h"
#include "tracer/sample/cpu_timer.h"
#include "tracer/sample/sample_clock.h"

#include <sys/types.h>

struct SampledThread {
    uintptr_t state; // PyThreadState that it runs; 0: it is outside Python
    pid_t tid;
    unsigned number; // ListedThread's; with tid: who it is
    char name[64];   // guarded by the sampler's lock
    struct ShareValue cpu;
    struct ShareValue wait;
    counter_t samples;          // and times that it was observed
    struct Breakdown functions; // of its CPU time

    bool known;             // observed before: there is a time since then
    bool ran;               // between the two newest observations
    bool walked;            // `stack` is as it was when it last ran
    struct CpuTimer *timer; // NULL: it has none
    bool untimed;           // none could be had, or it was muted: is counted
    uint64_t lacked_ns;     // its CPU clock when it lacked a sample
    uint64_t cpu_ns;        // its CPU clock at the newest observation
    uint64_t wall_ns;       // CLOCK_MONOTONIC at the newest observation
    uint64_t
        accounted_ns; // CPU time that functions were given; without a timer
    double wait_ns;   // waited, and no function was given it yet,
    double wait_age;  // ... as of this ShareTime.age
    struct WalkStart start; // of the newest walk
    struct SampledStack stack;
    struct SampledThread *next; // of SampledThreads.unlisted
};

enum Observation {
    OBSERVED_NEW,  // first seen, or its clock was replaced: a baseline only
    OBSERVED_IDLE, // has not run since the one before: its stack stands
    OBSERVED_RAN,  // its stack is to be walked
    OBSERVED_GONE  // the thread has ended
};

void SampledThread_init(struct SampledThread *thread, uintptr_t state,
                        pid_t tid);
// Reads its clocks.
enum Observation SampledThread_observe(struct SampledThread *thread,
                                       const struct SampleClock *clock,
                                       const struct ShareTime *now);
// Right after its walk: has its CPU clock moved since the observation?
bool SampledThread_is_running(const struct SampledThread *thread,
                              const struct SampleClock *clock);
// ns of CPU time up to the newest observation that no function was given yet.
// Not 0 only if that observation's stack has to get it: the thread has no
// timer, or no sample has come for long (its signals are blocked).
uint64_t SampledThread_overdue_ns(const struct SampledThread *thread,
                                  bool running);
// It has used so much CPU time since its timer gave a sample, and since this
// was true.
bool SampledThread_lacks_sample(struct SampledThread *thread, uint64_t ns);
void SampledThread_account(struct SampledThread *thread);
// Frees its timer; what that has sampled stays accounted for.
void SampledThread_drop_timer(struct SampledThread *thread);
// Nobody observed it for a while: the next observation is a baseline again.
void SampledThread_forget(struct SampledThread *thread);

#endif
