// SPDX-License-Identifier: MIT
// The hot path's entry: one function for each event and path, called by the
// interpreter on the traced thread with its lock held. hooks.c chooses the
// path.
#ifndef OCULAR_PYTHON_HOOKS_HOOK_H
#define OCULAR_PYTHON_HOOKS_HOOK_H

#include "python/hooks/state.h"

extern const vectorcallfunc HOOK_FAST[HOOK_EVENTS];
extern const vectorcallfunc HOOK_TIMELINE[HOOK_EVENTS];
// Where the CPU's counter or the place of the thread state cannot be relied on.
extern const vectorcallfunc HOOK_SLOW[HOOK_EVENTS];

#endif
