// SPDX-License-Identifier: MIT
// What follows from the probes: what each kind of hook costs altogether, the
// median over the programs that tell. Whoever calibrates calls it; no state.
#ifndef OCULAR_PYTHON_HOOKS_HOOK_COSTS_H
#define OCULAR_PYTHON_HOOKS_HOOK_COSTS_H

#include "python/hooks/probe.h"

#define PROBES_MAX 64

// Those of all probes, at most PROBES_MAX, in the table's order.
struct Probes {
    size_t count;
    struct Probe probes[PROBES_MAX];
};

// Fills what they tell of, in ticks.
void HookCosts_conclude(const struct Probes *all, double cost[HOOK_KINDS]);

#endif
