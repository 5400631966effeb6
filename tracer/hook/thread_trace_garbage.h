// SPDX-License-Identifier: MIT
// Handles the beginning and the end of a C function or of a garbage collection
// on a thread. C code counts like a call of a function that has no Python
// frame. The depth of C code is that of the function in which it began, because
// C code adds nothing to the interpreter's recursion depth.
#pragma once

#include "tracer/hook/hit.h"
#include "tracer/hook/thread_trace.h"

// Counts a HIT_C_BEGIN or a HIT_C_END at `depth`. `code` has the values of
// garbage collections, or is a function that calls a C function. Returns false,
// because no hook is to be removed. The caller of ThreadTrace_run_c holds the
// counting lock.
bool ThreadTrace_run_c(struct ThreadTrace *trace, struct Code *code,
                       const struct Hit *hit, uint32_t depth);
