// SPDX-License-Identifier: MIT
// What is remembered of a function from one re-arming to the next: a part of
// struct Code, which tracer/budget/policy.c fills and reads. The governor's
// thread.
#ifndef OCULAR_TRACER_CODE_REARM_WINDOW_H
#define OCULAR_TRACER_CODE_REARM_WINDOW_H

#include <stdint.h>

struct RearmWindow {
    uint64_t calls;  // timed ones, at the newest re-arming
    unsigned misses; // windows in turn that could time no call
    unsigned reach;  // steps by which its callees get more hits
};

#endif
