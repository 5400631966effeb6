// SPDX-License-Identifier: MIT
#include "tracer/hook/thread_trace_garbage.h"
#include "tracer/hook/thread_trace_call.h"

static void begin(struct ThreadTrace *trace, struct Code *code,
                  const struct Hit *hit, uint32_t depth)
{
    uintptr_t caller;

    // The end of an earlier garbage collection was not seen.
    while (trace->top->code == code)
        ThreadTrace_pop_unseen(trace, hit->ticks);
    ThreadTrace_settle(trace, depth + 1, Hit_to(hit), hit->ticks);
    // If the calling function has no frame, only the bits of Hit_caller are
    // known of it.
    caller = trace->top->depth == depth ? trace->top->address
                                        : (uintptr_t)Hit_to(hit) << 4;
    // The function gets no link to the function of garbage collections. With
    // this link, the function would count as one that calls other functions,
    // and would not be timed between slices.
    code->hot.last_caller = trace->top->id;
    trace->begins = EVENT_ENTER;
    ThreadTrace_enter(trace, code, depth + 1,
                      code->layout.units[Hit_unit(hit)].number, hit->ticks);
    if (trace->top->code != code) // Memory is out.
        return;
    // A finalizer is called at `depth` + 1, and the interpreter gives the
    // function below the collection as its caller.
    trace->top->depth = depth;
    trace->top->address = caller;
}

static void end(struct ThreadTrace *trace, struct Code *code,
                const struct Hit *hit, uint32_t depth)
{
    struct Contention *contention = trace->contention;
    int64_t long_span = contention->long_span;

    ThreadTrace_settle(trace, depth + 1, 0, hit->ticks);
    // The beginning of the collection has no frame.
    if (trace->top->code != code)
        return;
    // A long pause is the garbage collector's own time, because the garbage
    // collector holds the GIL. If a finalizer in C releases the GIL, its
    // waiting time counts as the garbage collector's own time, too.
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
