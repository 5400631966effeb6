// SPDX-License-Identifier: MIT
#include "tracer/sample/sampled_thread.h"

#include <string.h>
#include <unistd.h>

// If a thread with a running timer has used both OVERDUE_NS and
// OVERDUE_INTERVALS sampling intervals of CPU time without a sample, an
// observation attributes this CPU time. If a thread is not running and has no
// running timer, an observation attributes its CPU time only if it has used
// UNSAMPLED_NS.
#define OVERDUE_NS 200000000u
#define OVERDUE_INTERVALS 10u
#define UNSAMPLED_NS 1000000000u
#define IDLE_NS 10e9 // A thread is idle after this number of ns off the CPU.

void SampledThread_init(struct SampledThread *thread, uintptr_t state,
                        pid_t tid)
{
    memset(thread, 0, sizeof(*thread));
    thread->state = state;
    thread->tid = thread->stack.tid = tid;
}

void SampledThread_forget_waits(struct SampledThread *thread)
{
    thread->wait_ns = thread->gil.off_ns = thread->gil.faded_ns = 0;
    thread->gil.all_ns = thread->gil.owed_ns = thread->gil.told_ns = 0;
    thread->gil.since_ns = thread->gil.starved_ns = 0;
    thread->gil.ready_ns = 0;
}

// Waiting time that is not attributed to a function yet gets less weight over
// time (decays) as shares do. Without this decay, a thread whose waiting time
// was not attributed for long would later give one function more time than has
// passed in the window of the shares.
static void keep_wait(struct SampledThread *thread, const struct ShareTime *now,
                      double waited)
{
    double kept = ShareTime_decay(thread->wait_age, now->age);

    thread->wait_ns = thread->wait_ns * kept + waited;
    thread->gil.faded_ns += thread->gil.off_ns * (1 - kept);
    thread->gil.off_ns = thread->gil.off_ns * kept + waited;
    thread->gil.all_ns = thread->gil.all_ns * kept + waited;
    thread->gil.since_ns = thread->gil.since_ns * kept + waited;
    thread->gil.starved_ns *= kept;
    thread->gil.owed_ns *= kept;
    thread->gil.told_ns *= kept;
    thread->wait_age = now->age;
}

// Returns the number of threads that this thread represents in the waiting
// times.
static double represented(const struct SampledThread *thread)
{
    return thread->listed || !thread->timer ? 1 : thread->timer->represents;
}

// All CPU time of a thread that is not listed is covered by its timer.
static enum Observation begin(struct SampledThread *thread,
                              const struct ShareTime *now, double first_ns)
{
    thread->known = true;
    thread->walked = thread->ran = false;
    thread->still_ns = 0;
    SampledThread_forget_waits(thread);
    Counter_add(&thread->samples, 1);
    if (thread->listed || !thread->timer)
        SampledThread_account(thread);
    keep_wait(thread, now, first_ns * represented(thread));
    return OBSERVED_NEW;
}

enum Observation SampledThread_observe(struct SampledThread *thread,
                                       const struct SampleClock *clock,
                                       const struct ShareTime *now,
                                       double first_ns)
{
    uint64_t cpu_ns = SampleClock_ns(clock, Now_clock_of(thread->tid));
    uint64_t wall_ns = SampleClock_ns(clock, CLOCK_MONOTONIC);
    double ran = (double)(int64_t)(cpu_ns - thread->cpu_ns);
    double since = (double)(int64_t)(wall_ns - thread->wall_ns);
    double waited = since > ran ? since - ran : 0;

    if (cpu_ns == 0)
        return OBSERVED_GONE;
    thread->cpu_ns = cpu_ns;
    thread->wall_ns = wall_ns;
    // If the CPU clock went back, the thread's id now belongs to a new thread,
    // and the old thread's timer is of no use.
    if (ran < 0)
        SampledThread_drop_timer(thread);
    if (!thread->known || ran < 0)
        return begin(thread, now, first_ns);
    ShareValue_add(&thread->cpu, now, ran);
    ShareValue_add(&thread->wait, now, waited);
    Counter_add(&thread->samples, 1);
    keep_wait(thread, now, waited * represented(thread));
    thread->ran = ran > 0;
    thread->still_ns = thread->ran ? 0 : thread->still_ns + since;
    return thread->ran || !thread->walked ? OBSERVED_RAN : OBSERVED_IDLE;
}

bool SampledThread_is_running(const struct SampledThread *thread,
                              const struct SampleClock *clock)
{
    return SampleClock_ns(clock, Now_clock_of(thread->tid)) > thread->cpu_ns;
}

static uint64_t accounted_ns(const struct SampledThread *thread)
{
    return thread->timer ? CpuTimer_covered_ns(thread->timer)
                         : thread->accounted_ns;
}

uint64_t SampledThread_overdue_ns(const struct SampledThread *thread,
                                  bool running)
{
    uint64_t accounted = accounted_ns(thread), due = UNSAMPLED_NS;
    uint64_t unattributed =
        thread->cpu_ns > accounted ? thread->cpu_ns - accounted : 0;

    if (thread->timer && thread->timer->interval_ns) {
        due = OVERDUE_INTERVALS * thread->timer->interval_ns;
        due = due > OVERDUE_NS ? due : OVERDUE_NS;
    } else if (running) {
        due = 0;
    }
    return unattributed > due ? unattributed : 0;
}

bool SampledThread_lacks_sample(struct SampledThread *thread, uint64_t ns)
{
    uint64_t since_ns = CpuTimer_sampled_ns(thread->timer);

    if (since_ns < thread->lacked_ns)
        since_ns = thread->lacked_ns;
    if (thread->cpu_ns < since_ns + ns)
        return false;
    thread->lacked_ns = thread->cpu_ns;
    return true;
}

bool SampledThread_is_idle(const struct SampledThread *thread)
{
    return thread->still_ns > IDLE_NS && thread->tid != getpid();
}

void SampledThread_account(struct SampledThread *thread)
{
    thread->accounted_ns = thread->cpu_ns;
    if (thread->timer)
        CpuTimer_account(thread->timer, thread->cpu_ns);
}

void SampledThread_drop_timer(struct SampledThread *thread)
{
    thread->accounted_ns = accounted_ns(thread);
    CpuTimer_free(thread->timer);
    thread->timer = NULL;
    thread->lacked_ns = 0;
}

void SampledThread_forget(struct SampledThread *thread)
{
    thread->known = thread->walked = false;
    SampledThread_forget_waits(thread);
}
