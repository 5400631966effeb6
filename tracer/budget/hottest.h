// SPDX-License-Identifier: MIT
// The functions that are hot now, hottest first: by the sampler's share, and by
// the hits gained since the last time if that says nothing. Ranked by the
// governor's thread without the interpreter's lock.
#ifndef OCULAR_TRACER_BUDGET_HOTTEST_H
#define OCULAR_TRACER_BUDGET_HOTTEST_H

#include "tracer/code/registry.h"

#define HOTTEST_COUNT 50

struct Hottest {
    uint32_t ids[HOTTEST_COUNT];
    double heat[HOTTEST_COUNT];
    unsigned count;
    uint64_t ticks;  // when it was ranked
    uint32_t active; // functions that were called since the ranking before; 0:
                     // there was none
};

// All zero is one that knows nothing. `sampled` is NULL without a
// sampler. Opens a read section.
void Hottest_rank(struct Hottest *hottest, struct Registry *registry,
                  uint64_t ticks, const struct ShareTime *sampled);

#endif
