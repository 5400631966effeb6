// SPDX-License-Identifier: MIT
// Finds the GIL of the running interpreter for the sampler, and reads the lock
// of CPython's list of threads. module.c calls GilFacts_find when the module is
// imported. fork.c calls the other function at each fork.
#pragma once

#include "python/hooks/state.h"

// Sets FrameLayout.gil, or leaves it NULL if CPython's struct has other values
// than expected. The caller holds the GIL.
void GilFacts_find(struct State *state);
// Returns true if CPython has locked its list of threads, as os.fork() does
// just before the fork. Returns false with CPython 3.12, which does not lock
// the list. The calling thread has a thread state. No other thread should hold
// this lock for long, because a child could then never use the list.
bool GilFacts_list_is_locked(void);
