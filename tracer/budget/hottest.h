// SPDX-License-Identifier: MIT
// Ranks the functions that are hot now. The hottest function comes first in the
// ranking. The functions' shares of the sampled CPU time decide the order. If
// no function has a share, the number of hits since the last ranking decides.
// The governor's thread ranks the functions without the GIL.
#pragma once

#include "tracer/code/registry.h"

#define HOTTEST_COUNT 50

struct Hottest {
    uint32_t ids[HOTTEST_COUNT];
    double heat[HOTTEST_COUNT];
    unsigned count;
    uint64_t ticks; // Ticks at the ranking.
    // Number of functions that were called since the ranking before this one,
    // or 0 at the first ranking.
    uint32_t active;
};

// Ranks all functions. If all fields of `hottest` are 0, Hottest_rank has not
// ranked before. `sampled` is NULL if there is no sampler. Hottest_rank begins
// and ends an RCU read section.
void Hottest_rank(struct Hottest *hottest, struct Registry *registry,
                  uint64_t ticks, const struct ShareTime *sampled);
