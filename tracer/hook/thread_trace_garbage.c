// SPDX-License-Identifier: MIT
// See thread_trace_garbage.h.
#include "tracer/hook/thread_trace_garbage.h"
#include "tracer/hook/thread_trace_call.h"

static void begin(struct ThreadTrace *trace, struct Code *code,
                  const struct Hit *hit, uint32_t depth)
{
    uintptr_t caller;

    // The end of an earlier collection was not seen.
    while (trace->top->code == code)
        ThreadTrace_pop_unseen(trace, hit->ticks);
    ThreadTrace_settle(trace, depth + 1, Hit_to(hit), hit->ticks);
    // Only the bits of Hit_caller are known of a function without a frame.
    caller = trace->top->depth == depth ? trace->top->address
                                        : (uintptr_t)Hit_to(hit) << 4;
    // The function gets no link to the collector. With the link, the function
    // would count as one that calls others, and would not be timed between
    // slices.
    code->hot.last_caller = trace->top->id;
    trace->begins = EVENT_ENTER;
    ThreadTrace_enter(trace, code, depth + 1,
                      code->layout.units[Hit_unit(hit)].number, hit->ticks);
    if (trace->top->code != code) // memory is out
        return;
    // Finalizers are called at `depth` + 1, and the interpreter names the
    // function below as their caller.
    trace->top->depth = depth;
    trace->top->address = caller;
}

static void end(struct ThreadTrace *trace, struct Code *code,
                const struct Hit *hit, uint32_t depth)
{
    struct Contention *contention = trace->contention;
    int64_t long_span = contention->long_span;

    ThreadTrace_settle(trace, depth + 1, 0, hit->ticks);
    if (trace->top->code != code) // the beginning has no frame
        return;
    // A long pause is the collector's own time, because the collector holds the
    // GIL. If a finalizer in C releases the GIL, its wait counts as own time,
    // too.
    contention->long_span = INT64_MAX;
    ThreadTrace_leave(trace, code, Code_site(code, 2 * Hit_unit(hit)), depth,
                      hit->ticks);
    contention->long_span = long_span;
}

bool ThreadTrace_collect(struct ThreadTrace *trace, struct Code *code,
                         const struct Hit *hit, uint32_t depth)
{
    if (Hit_kind(hit) == HIT_GARBAGE)
        begin(trace, code, hit, depth);
    else if (Hit_kind(hit) == HIT_GARBAGE_END)
        end(trace, code, hit, depth);
    return false;
}
