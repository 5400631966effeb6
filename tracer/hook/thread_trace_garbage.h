// SPDX-License-Identifier: MIT
// Handles the beginning and the end of C code on a thread: of a garbage
// collection or of a C function. C code counts like a call of a function that
// has no Python frame. It has the depth of the function in which it began,
// because it adds nothing to the interpreter's recursion depth.
#pragma once

#include "tracer/hook/hit.h"
#include "tracer/hook/thread_trace.h"

// Seconds that the hook of a call's beginning or end in a C function takes to
// find the function, beyond the cost of a hook that writes a hit.
#define C_HOOK_S 25e-9

// Counts a HIT_C_BEGIN or a HIT_C_END at `depth`. `code` stands for the garbage
// collector, or is a function that calls a C function. Returns false, because
// no hook is to be removed. The caller of ThreadTrace_run_c holds the counting
// lock.
bool ThreadTrace_run_c(struct ThreadTrace *trace, struct Code *code,
                       const struct Hit *hit, uint32_t depth);
