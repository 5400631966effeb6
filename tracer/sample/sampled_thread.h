// SPDX-License-Identifier: MIT
// struct SampledThread describes one sampled Python thread. struct
// SampledThread has the thread's clocks, timer and shares, and the stack at the
// last observation before which the thread had run. Only the sampler's thread
// changes a struct SampledThread. Any thread may read its shares.
#pragma once

#include "tracer/sample/attribution.h"
#include "tracer/sample/cpu_timer.h"
#include "tracer/sample/gil.h"
#include "tracer/sample/sample_clock.h"

#include <sys/types.h>

struct SampledThread {
    // PyThreadState that the thread runs, or 0 if the thread is outside Python.
    uintptr_t state;
    pid_t tid;
    // ListedThread.number, which together with `tid` identifies the thread.
    unsigned number;
    char name[64]; // The mutex SampledThreads.lock guards `name`.
    struct ShareValue cpu;
    struct ShareValue wait;
    counter_t samples; // Number of samples and observations of the thread.
    struct Breakdown functions; // The thread's CPU time by function.

    // True if the thread was observed before, so that the clocks below are
    // valid.
    bool known;
    bool ran;    // True if the thread ran between the two newest observations.
    bool walked; // True if `stack` shows where the thread last ran.
    struct CpuTimer *timer; // NULL if the thread has no timer.
    // True if the thread counts in Observer.untimed, because it has no timer or
    // a muted timer.
    bool untimed;
    // Value of the thread's CPU clock in ns when SampledThread_lacks_sample
    // last returned true.
    uint64_t lacked_ns;
    // Value of the thread's CPU clock in ns at the newest observation.
    uint64_t cpu_ns;
    uint64_t wall_ns; // CLOCK_MONOTONIC in ns at the newest observation.
    // CPU time up to this value of the thread's CPU clock, in ns, is attributed
    // to functions. `accounted_ns` is used only if the thread has no timer.
    uint64_t accounted_ns;
    double wait_ns; // ns of waiting that are not attributed to a function yet.
    // Value of ShareTime.age at which `wait_ns` was last updated.
    double wait_age;
    // ns from the time at which the thread last ran to the newest observation.
    double still_ns;
    struct GilThread gil;
    struct LongCall long_call;
    // The PyThreadState's values with which the newest walk of the stack began.
    struct WalkStart start;
    struct SampledStack stack;
    // True if a list of Python threads contained the thread. A thread that has
    // begun after the newest list was made is not listed, and its timer may
    // represent others.
    bool listed;
    bool gone; // True if the thread is not listed and has ended.
};

enum Observation {
    // The thread is new, or its clock now belongs to another thread, so the
    // clock was read for the first time.
    OBSERVED_NEW,
    // The thread has not run since the last observation, so `stack` is still
    // valid.
    OBSERVED_IDLE,
    OBSERVED_RAN, // The thread has run, so its stack must be read.
    OBSERVED_GONE // The thread has ended.
};

void SampledThread_init(struct SampledThread *thread, uintptr_t state,
                        pid_t tid);
// Reads the thread's clocks. A thread's first observation represents `first_ns`
// ns, which is the time between two observations. The waits of threads that
// live for less than `first_ns` ns are thus right in the mean.
enum Observation SampledThread_observe(struct SampledThread *thread,
                                       const struct SampleClock *clock,
                                       const struct ShareTime *now,
                                       double first_ns);
// SampledThread_forget_waits is called if a first observation finds the thread
// running, and drops its waiting time.
void SampledThread_forget_waits(struct SampledThread *thread);
// Returns true if the thread's CPU clock has moved since the observation. The
// caller has just read the thread's stack.
bool SampledThread_is_running(const struct SampledThread *thread,
                              const struct SampleClock *clock);
// Returns the ns of CPU time that must be attributed to the observed stack, or
// 0. The result is above 0 if the thread has no timer, or if it has had no
// sample for a long time because it has blocked the signal.
uint64_t SampledThread_overdue_ns(const struct SampledThread *thread,
                                  bool running);
// Returns true if the thread has used `ns` of CPU time since the newest sample
// of its timer. SampledThread_lacks_sample returns true at most once in `ns` of
// CPU time.
bool SampledThread_lacks_sample(struct SampledThread *thread, uint64_t ns);
// Returns true if the thread has not run for 10 s, like a worker without work.
// The main thread is never idle, because the program waits for the main thread.
bool SampledThread_is_idle(const struct SampledThread *thread);
void SampledThread_account(struct SampledThread *thread);
// Frees the thread's timer. CPU time that this timer has sampled is not
// attributed a second time.
void SampledThread_drop_timer(struct SampledThread *thread);
// SampledThread_forget is called if the last observation is too old. The
// thread's next observation counts as its first.
void SampledThread_forget(struct SampledThread *thread);
