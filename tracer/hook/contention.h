// SPDX-License-Identifier: MIT
// How the process's threads share the GIL, and how the machine's programs share
// the CPUs. These facts say which spans between two events a thread had for
// itself. All records share one Contention. The counting thread and the
// governor hold the counting lock when they write the fields. A thread that
// holds the GIL may read the governor's fields.
#ifndef OCULAR_TRACER_HOOK_CONTENTION_H
#define OCULAR_TRACER_HOOK_CONTENTION_H

#include <stdbool.h>
#include <stdint.h>

struct Contention {
    const void *last_trace; // record whose hit was counted last
    int64_t brief_span;     // cycles; a shorter span needs no check
    // In a span of more cycles another thread must have run. INT64_MAX while
    // there is only one thread.
    int64_t long_span;
    double hz;      // cycles per second
    uint32_t armed; // how often code was armed again, modulo 2^32
    // Other programs often take the CPU, or this is not known yet. Only the
    // governor writes this field.
    bool preempted;
};

void Contention_init(struct Contention *contention, double hz);
// Says that the process's threads take turns of `turn_s` seconds. 0 means that
// there is only one thread.
void Contention_share(struct Contention *contention, double turn_s);

#endif
