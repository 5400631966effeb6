// SPDX-License-Identifier: MIT
// Finds the GIL of the running interpreter for the sampler. module.c calls
// GilFacts_find when the module is imported.
#ifndef OCULAR_PYTHON_HOOKS_GIL_FACTS_H
#define OCULAR_PYTHON_HOOKS_GIL_FACTS_H

#include "python/hooks/state.h"

// Sets FrameLayout.gil, or leaves it NULL if CPython's struct has other values
// than expected. The caller holds the GIL.
void GilFacts_find(struct State *state);

#endif
