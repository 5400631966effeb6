// SPDX-License-Identifier: MIT
// Handles the beginning and the end of a call. The functions of
// thread_trace_call.h push and pop the frame of the call and add up its time.
// The caller of the functions of thread_trace_call.h holds the counting lock.
// `ticks` is the value of the time stamp counter that the hook has read.
#pragma once

#include "tracer/hook/thread_trace.h"

// Begins a call, a resumption of a call, or a throw into a generator. Returns
// true if the hook should return DISABLE.
bool ThreadTrace_enter(struct ThreadTrace *trace, struct Code *code,
                       uint32_t depth, uint16_t start, uint64_t ticks);
// Ends a call by a return or a yield at `site`, or by an exception, for which
// `site` is NULL. Returns true if the hook should return DISABLE. For an
// exception the result means nothing, because no site could be disabled.
bool ThreadTrace_leave(struct ThreadTrace *trace, struct Code *code,
                       struct Site *site, uint32_t depth, uint64_t ticks);
