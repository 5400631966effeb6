// SPDX-License-Identifier: MIT
// Handles the beginning and the end of a garbage collection on a thread. A
// garbage collection counts like a call of a function that has no Python frame.
// A garbage collection has the depth of the function in which it began, because
// it adds nothing to the interpreter's recursion depth.
#pragma once

#include "tracer/hook/hit.h"
#include "tracer/hook/thread_trace.h"

// Counts a HIT_GARBAGE or a HIT_GARBAGE_END at `depth`. `code` stands for the
// garbage collector. Returns false, because the garbage collector has no hook
// that could be removed. The caller of ThreadTrace_collect holds the counting
// lock.
bool ThreadTrace_collect(struct ThreadTrace *trace, struct Code *code,
                         const struct Hit *hit, uint32_t depth);
