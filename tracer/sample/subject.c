// SPDX-License-Identifier: MIT
// A sampled thread's clocks; see the header.
#include "tracer/sample/subject.h"

#include <math.h>
#include <string.h>

// A thread that has used so much CPU time, and ten intervals, without a sample
// does not get its signals; one without a timer and without being found running
// has used the second.
#define OVERDUE_NS 200000000u
#define OVERDUE_INTERVALS 10u
#define UNMET_NS 1000000000u

void Subject_init(struct Subject *subject, uintptr_t state, pid_t tid)
{
    memset(subject, 0, sizeof(*subject));
    subject->state = state;
    subject->tid = tid;
}

static enum SubjectLook begin(struct Subject *subject)
{
    subject->known = true;
    subject->walked = subject->ran = false;
    subject->wait_ns = 0;
    Subject_account(subject);
    return SUBJECT_NEW;
}

// What no function was given fades as a share does: a thread that was found
// running for long would else show in one function more than the window holds.
static void keep_wait(struct Subject *subject, const struct ShareTime *now,
                      double waited)
{
    subject->wait_ns *= exp(fmin(subject->wait_age - now->age, 0));
    subject->wait_ns += waited;
    subject->wait_age = now->age;
}

enum SubjectLook Subject_look(struct Subject *subject,
                              const struct SampleClock *clock,
                              const struct ShareTime *now)
{
    uint64_t cpu_ns = SampleClock_ns(clock, Now_clock_of(subject->tid));
    uint64_t wall_ns = SampleClock_ns(clock, CLOCK_MONOTONIC);
    double ran = (double)(int64_t)(cpu_ns - subject->cpu_ns);
    double since = (double)(int64_t)(wall_ns - subject->wall_ns);
    double waited = since > ran ? since - ran : 0;

    if (cpu_ns == 0)
        return SUBJECT_GONE;
    subject->cpu_ns = cpu_ns;
    subject->wall_ns = wall_ns;
    if (ran < 0) // another thread with that number: the timer is not for it
        Subject_drop_timer(subject);
    if (!subject->known || ran < 0)
        return begin(subject);
    ShareValue_add(&subject->cpu, now, ran);
    ShareValue_add(&subject->wait, now, waited);
    Cell_add(&subject->samples, 1);
    keep_wait(subject, now, waited);
    subject->ran = ran > 0;
    return subject->ran || !subject->walked ? SUBJECT_RAN : SUBJECT_IDLE;
}

bool Subject_is_running(const struct Subject *subject,
                        const struct SampleClock *clock)
{
    return SampleClock_ns(clock, Now_clock_of(subject->tid)) > subject->cpu_ns;
}

static uint64_t accounted_ns(const struct Subject *subject)
{
    return subject->timer ? CpuTimer_covered_ns(subject->timer)
                          : subject->accounted_ns;
}

uint64_t Subject_overdue_ns(const struct Subject *subject, bool running)
{
    uint64_t accounted = accounted_ns(subject), due = UNMET_NS;
    uint64_t owed =
        subject->cpu_ns > accounted ? subject->cpu_ns - accounted : 0;

    if (subject->timer && subject->timer->interval_ns) {
        due = OVERDUE_INTERVALS * subject->timer->interval_ns;
        due = due > OVERDUE_NS ? due : OVERDUE_NS;
    } else if (running) {
        due = 0;
    }
    return owed > due ? owed : 0;
}

void Subject_account(struct Subject *subject)
{
    subject->accounted_ns = subject->cpu_ns;
    if (subject->timer)
        CpuTimer_account(subject->timer, subject->cpu_ns);
}

void Subject_drop_timer(struct Subject *subject)
{
    subject->accounted_ns = accounted_ns(subject);
    CpuTimer_free(subject->timer);
    subject->timer = NULL;
}

void Subject_forget(struct Subject *subject)
{
    subject->known = subject->walked = false;
    subject->wait_ns = 0;
}
