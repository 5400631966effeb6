// SPDX-License-Identifier: MIT
// A call begins and ends: its frame is pushed, and its time is booked. With
// the counting lock; `ticks` is when the hook read the counter.
#ifndef OCULAR_TRACER_HOOK_THREAD_TRACE_CALL_H
#define OCULAR_TRACER_HOOK_THREAD_TRACE_CALL_H

#include "tracer/hook/thread_trace.h"

// A call, a resumption or a throw into a generator. true: DISABLE the site.
bool ThreadTrace_enter(struct ThreadTrace *trace, struct Code *code,
                       uint32_t depth, uint16_t start, uint64_t ticks);
// A return, a yield (site != NULL) or an exception that leaves the frame
// (site == NULL, which has no site to disable). true: DISABLE the site.
bool ThreadTrace_leave(struct ThreadTrace *trace, struct Code *code,
                       struct Site *site, uint32_t depth, uint64_t ticks);

#endif
