// SPDX-License-Identifier: MIT
// One sampled Python thread: its clocks, its timer, the stack it had when it
// last ran, and its shares. Only the sampler's thread changes it; its shares
// may be read by anyone.
#ifndef OCULAR_TRACER_SAMPLE_SUBJECT_H
#define OCULAR_TRACER_SAMPLE_SUBJECT_H

#include "tracer/sample/attribution.h"
#include "tracer/sample/cpu_timer.h"
#include "tracer/sample/sample_clock.h"

#include <sys/types.h>

struct Subject {
    uintptr_t state; // PyThreadState; with tid: who it is
    pid_t tid;
    char name[64]; // guarded by the sampler's lock
    struct ShareValue cpu;
    struct ShareValue wait;
    cell_t samples;             // and times that it was looked at
    struct Breakdown functions; // of its CPU time

    bool known;             // looked at before: there is a time since then
    bool ran;               // between the two newest looks
    bool walked;            // `stack` is as it was when it last ran
    struct CpuTimer *timer; // NULL: it has none
    bool untimed;           // it could not be had: that is counted already
    uint64_t cpu_ns;        // its CPU clock at the newest look
    uint64_t wall_ns;       // CLOCK_MONOTONIC at the newest look
    uint64_t
        accounted_ns; // CPU time that functions were given; without a timer
    double wait_ns;   // waited, and no function was given it yet,
    double wait_age;  // ... as of this ShareTime.age
    struct WalkStart start; // of the newest walk
    struct SampledStack stack;
    struct Subject *next; // of Subjects.unlisted
};

enum SubjectLook {
    SUBJECT_NEW,  // first seen, or its clock was replaced: a baseline only
    SUBJECT_IDLE, // has not run since the look before: its stack stands
    SUBJECT_RAN,  // its stack is to be walked
    SUBJECT_GONE  // the thread has ended
};

void Subject_init(struct Subject *subject, uintptr_t state, pid_t tid);
// Reads its clocks.
enum SubjectLook Subject_look(struct Subject *subject,
                              const struct SampleClock *clock,
                              const struct ShareTime *now);
// Right after its walk: has its CPU clock moved since the look?
bool Subject_is_running(const struct Subject *subject,
                        const struct SampleClock *clock);
// CPU time up to the newest look that no function was given yet, where it has
// to be the look's stack that gets it: it has no timer, or no sample has come
// for long (its signals are blocked). 0: none is due.
uint64_t Subject_overdue_ns(const struct Subject *subject, bool running);
void Subject_account(struct Subject *subject);
// Frees its timer; what that has sampled stays accounted for.
void Subject_drop_timer(struct Subject *subject);
// Nobody looked at it for a while: the next look is a baseline again.
void Subject_forget(struct Subject *subject);

#endif
