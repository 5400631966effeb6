// SPDX-License-Identifier: MIT
// Records how the process's threads share the GIL, and how the machine's
// programs share the CPUs. From these facts counting tells whether a thread ran
// without a break between two events. All thread records share one Contention.
// The counting thread and the governor hold the counting lock when they write
// the fields. A thread that holds the GIL may read the governor's fields.
#ifndef OCULAR_TRACER_HOOK_CONTENTION_H
#define OCULAR_TRACER_HOOK_CONTENTION_H

#include <stdbool.h>
#include <stdint.h>

struct Contention {
    const void *last_trace; // record of the thread whose hit was counted last
    // ticks; shorter spans between two events are not checked.
    int64_t brief_span;
    // If more ticks than this are between two events, another thread must have
    // run. INT64_MAX while there is only one thread.
    int64_t long_span;
    double hz;      // ticks per second
    uint32_t armed; // number of times that code was armed, modulo 2^32
    // True if other programs often take the CPU. The value is true until the
    // first measurement. Only the governor writes this field.
    bool preempted;
};

void Contention_init(struct Contention *contention, double hz);
// Sets the length of the turns in which the process's threads run, in seconds.
// If `turn_s` is 0, there is only one thread.
void Contention_share(struct Contention *contention, double turn_s);

#endif
