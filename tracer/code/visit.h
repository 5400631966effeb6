// SPDX-License-Identifier: MIT
// What is remembered of a function from one re-arming to the next: a part of
// struct Code, which tracer/budget/policy.c fills and reads. The governor's
// thread.
#ifndef OCULAR_TRACER_CODE_VISIT_H
#define OCULAR_TRACER_CODE_VISIT_H

#include <stdint.h>

struct Visit {
    uint64_t calls, cycles; // timed ones, at the newest re-arming
    double mean;            // cycles a call of the newest session that had any
    double volatility;      // how much sessions differ, 0 to 1
    unsigned misses;        // sessions in turn that could time no call
    unsigned reach;         // steps by which its callees get more hits
};

#endif
