// SPDX-License-Identifier: MIT
// How a process's threads share the interpreter, and the machine its CPUs: what
// says which spans between two events a thread had for itself. One for all
// records. Written with the counting lock, by the thread that counts and the
// governor; a thread that holds the interpreter's lock reads the governor's
// fields.
#ifndef OCULAR_TRACER_HOOK_CONTENTION_H
#define OCULAR_TRACER_HOOK_CONTENTION_H

#include <stdbool.h>
#include <stdint.h>

struct Contention {
    const void *last_trace; // whose hit was counted last
    int64_t brief_span;     // cycles that are believed without asking
    int64_t long_span; // cycles above which others must have run; INT64_MAX
                       // while there is only one thread
    double hz;         // cycles a second
    uint32_t armed;    // times that code was armed again, modulo 2^32
    bool preempted;    // other programs often take the CPU, or that is not
                       // known yet; the governor writes it
};

void Contention_init(struct Contention *contention, double hz);
// The process's threads take turns of so many seconds; 0: there is only one.
void Contention_share(struct Contention *contention, double turn_s);

#endif
