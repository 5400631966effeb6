// SPDX-License-Identifier: MIT
// Declares the entry points of the hooks, one function for each event. CPython
// calls the entry points on the traced thread with the GIL held.
#pragma once

#include "python/hooks/state.h"

extern const vectorcallfunc HOOK_FAST[HOOK_EVENTS];
// The slow hooks count each event at once. Slow hooks are used if the CPU's
// counter or the address of the thread state is unreliable, or if the threshold
// is only a few hits.
extern const vectorcallfunc HOOK_SLOW[HOOK_EVENTS];
