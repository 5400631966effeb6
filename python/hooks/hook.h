// SPDX-License-Identifier: MIT
// The hooks' entry: a function for each event, called by the interpreter on the
// traced thread with its lock held.
#ifndef OCULAR_PYTHON_HOOKS_HOOK_H
#define OCULAR_PYTHON_HOOKS_HOOK_H

#include "python/hooks/state.h"

extern const vectorcallfunc HOOK_FAST[HOOK_EVENTS];
// These count each event at once: if the CPU's counter or the place of the
// thread state cannot be relied on, or with a threshold of few hits.
extern const vectorcallfunc HOOK_SLOW[HOOK_EVENTS];

#endif
