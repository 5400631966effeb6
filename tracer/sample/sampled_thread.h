// SPDX-License-Identifier: MIT
// Describes one sampled Python thread. The struct has the thread's clocks, its
// timer, its shares, and its stack at the last observation in which the thread
// ran. Only the sampler's thread changes the struct. Any thread may read the
// shares.
#ifndef OCULAR_TRACER_SAMPLE_SAMPLED_THREAD_H
#define OCULAR_TRACER_SAMPLE_SAMPLED_THREAD_H

#include "tracer/sample/attribution.h"
#include "tracer/sample/cpu_timer.h"
#include "tracer/sample/gil.h"
#include "tracer/sample/sample_clock.h"

#include <sys/types.h>

struct SampledThread {
    uintptr_t state; // PyThreadState that the thread runs; 0 if outside Python.
    pid_t tid;
    // ListedThread.number; identifies the thread together with `tid`
    unsigned number;
    char name[64]; // guarded by SampledThreads.lock.
    struct ShareValue cpu;
    struct ShareValue wait;
    counter_t samples;          // number of samples and observations.
    struct Breakdown functions; // breakdown of the thread's CPU time.

    // True if the thread was observed before, so that the clocks below are
    // valid.
    bool known;
    bool ran;    // true if the thread ran between the two newest observations.
    bool walked; // true if `stack` is the thread's stack when it last ran.
    struct CpuTimer *timer; // NULL if the thread has no timer.
    // true if the thread is counted as untimed, because it has no timer or a
    // muted timer
    bool untimed;
    // Value of the CPU clock when SampledThread_lacks_sample last returned
    // true.
    uint64_t lacked_ns;
    uint64_t cpu_ns;  // value of the CPU clock at the newest observation.
    uint64_t wall_ns; // CLOCK_MONOTONIC at the newest observation.
    // The value of the CPU clock up to which time is attributed. This field is
    // used only if the thread has no timer.
    uint64_t accounted_ns;
    double wait_ns;  // ns of waiting that are not attributed yet.
    double wait_age; // ShareTime.age of `wait_ns`.
    struct GilThread gil;
    struct WalkStart start; // start of the newest walk.
    struct SampledStack stack;
    struct SampledThread *next; // next thread in SampledThreads.unlisted.
};

enum Observation {
    // The thread is new, or its clock was replaced. So this is the first
    // reading.
    OBSERVED_NEW,
    // The thread has not run since the last observation, so `stack` is still
    // valid.
    OBSERVED_IDLE,
    OBSERVED_RAN, // the thread has run, so its stack must be walked
    OBSERVED_GONE // the thread has ended
};

void SampledThread_init(struct SampledThread *thread, uintptr_t state,
                        pid_t tid);
// Reads the thread's clocks.
enum Observation SampledThread_observe(struct SampledThread *thread,
                                       const struct SampleClock *clock,
                                       const struct ShareTime *now);
// Returns true if the thread's CPU clock has moved since the observation. The
// caller has just walked the thread's stack.
bool SampledThread_is_running(const struct SampledThread *thread,
                              const struct SampleClock *clock);
// Returns the ns of CPU time that must be attributed to the observed stack, or
// 0. The result is above 0 if the thread has no timer, or if there was no
// sample for a long time because the thread has blocked the signal.
uint64_t SampledThread_overdue_ns(const struct SampledThread *thread,
                                  bool running);
// Returns true if the thread has used `ns` of CPU time since the newest sample
// of its timer. The function returns true at most once in `ns` of CPU time.
bool SampledThread_lacks_sample(struct SampledThread *thread, uint64_t ns);
void SampledThread_account(struct SampledThread *thread);
// Frees the thread's timer. The CPU time that the timer has sampled is not
// attributed again.
void SampledThread_drop_timer(struct SampledThread *thread);
// Forgets the last observation, because it is too old. The next observation is
// then a first reading.
void SampledThread_forget(struct SampledThread *thread);

#endif
