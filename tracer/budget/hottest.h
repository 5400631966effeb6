// SPDX-License-Identifier: MIT
// The functions that are hot now, the hottest first. The sampler's share
// decides, or the hits since the last ranking if no function has a share. The
// governor's thread ranks the functions without the GIL.
#ifndef OCULAR_TRACER_BUDGET_HOTTEST_H
#define OCULAR_TRACER_BUDGET_HOTTEST_H

#include "tracer/code/registry.h"

#define HOTTEST_COUNT 50

struct Hottest {
    uint32_t ids[HOTTEST_COUNT];
    double heat[HOTTEST_COUNT];
    unsigned count;
    uint64_t ticks; // when the ranking was made
    // The functions that were called since the ranking before, or 0 if this is
    // the first ranking.
    uint32_t active;
};

// Ranks all functions. An all-zero `hottest` has no ranking yet. `sampled`
// is NULL if there is no sampler. Opens a read section.
void Hottest_rank(struct Hottest *hottest, struct Registry *registry,
                  uint64_t ticks, const struct ShareTime *sampled);

#endif
