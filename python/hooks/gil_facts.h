// SPDX-License-Identifier: MIT
// Finds the GIL of the running interpreter for the sampler. module.c calls
// GilFacts_find when the module is imported.
#pragma once

#include "python/hooks/state.h"

// Sets FrameLayout.gil, or leaves it NULL if CPython's struct has other values
// than expected. The caller holds the GIL.
void GilFacts_find(struct State *state);
