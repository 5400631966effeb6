// SPDX-License-Identifier: MIT
// See call.h.
#include "python/hooks/call.h"
#include "python/hooks/adopt.h"
#include "python/hooks/frames.h"
#include "python/hooks/own_trace.h"
#include "python/hooks/paid.h"
#include "python/hooks/tasks.h"
#include "python/hooks/thread_state.h"
#include "tracer/base/tsc_guard.h"
#include "tracer/hook/thread_trace_call.h"

// The event comes from another stack than the last one, or from another part of
// the same.
static void follow(struct Call *call)
{
    const struct Clock *clock = &ocular_state.engine.clock;
    uint64_t begin = Clock_read(clock), ticks;
    struct Paid before = Paid_by(call->trace);

    Frames_switch(call->trace, call->state, call->depth, call->ticks);
    ticks = Clock_read(clock);
    Paid_since(call->trace, &before, call->ticks, ticks - begin);
    call->ticks += ticks - begin;
}

static bool is_timing(void)
{
    return own_trace && own_trace->stands_for;
}

bool Call_look(struct Call *call, PyObject *const *args, size_t nargsf,
               uint64_t ticks)
{
    struct Seen *seen;

    if (PyVectorcall_NARGS(nargsf) < 2 || TscGuard_has_tripped())
        return false;
    call->code = Adopt_find(&ocular_state, args[0]);
    if (!call->code || !PyLong_Check(args[1]))
        return false;
    call->unit = Call_unit(args[1]);
    // Hooks are being timed, and something else has come in between, a signal's
    // handler, say: that is off then, and what is left of it is not seen.
    if (OCULAR_UNLIKELY(call->code->hot.probe != is_timing()) &&
        ocular_state.phase != PHASE_STARTING) {
        if (call->code->hot.probe)
            return false;
        OwnTrace_take_back();
    }
    call->trace = OwnTrace_get(&ocular_state, ticks);
    if (!call->trace || call->unit >= call->code->layout.unit_count)
        return false;
    if (OCULAR_UNLIKELY(call->trace->name_asks))
        ThreadTraces_ask_name(&ocular_state.engine.traces, call->trace);
    call->ticks = ticks;
    call->state = THREAD_STATE_CALL();
    ThreadTrace_set_state(call->trace, (uintptr_t)call->state, call->state->id,
                          ticks);
    call->depth = ThreadState_depth(call->state);
    if (call->depth == 0) // that of the sentinel, which is never closed
        call->depth = 1;
    if (call->trace->chunk != ThreadState_chunk(call->state))
        follow(call);
    if (OCULAR_UNLIKELY(call->code->cold.begins_tasks))
        return true; // not seen by the fast path: each call of it comes here
    seen = ThreadTrace_seen(call->trace, call->code->who.address);
    seen->address = call->code->who.address;
    seen->code = call->code;
    return true;
}

void Call_charge(struct Call *call)
{
    uint64_t taken = Clock_read(&ocular_state.engine.clock) - call->ticks;

    // Longer: somebody else had the CPU.
    if (!ocular_state.fast ||
        taken > (uint64_t)call->trace->contention->brief_span)
        return;
    Counter_add(&call->trace->overhead, taken);
    call->ticks += taken;
}

bool Call_resumes(const struct Call *call)
{
    const struct Site *site = Code_site(call->code, 2 * call->unit);

    return site && site->kind == SITE_RESUME;
}

bool Call_enter(struct Call *call, bool resumes)
{
    const struct Frame *caller = call->trace->top;
    bool disable;

    if (caller->depth >= call->depth ||
        call->code->hot.last_caller != caller->id)
        Frames_settle(call->trace, call->code, call->state, call->depth,
                      call->ticks);
    caller = call->trace->top;
    if (caller->depth < call->depth &&
        call->code->hot.last_caller != caller->id)
        ThreadTrace_note_caller(call->trace, call->code, call->depth);
    Call_charge(call);
    if (resumes)
        Counter_add(&call->code->hot.resumed, 1);
    disable = ThreadTrace_enter(call->trace, call->code, call->depth,
                                call->code->layout.units[call->unit].number,
                                call->ticks, PATH_SLOW);
    if (OCULAR_UNLIKELY(call->code->cold.begins_tasks))
        Tasks_note(call->trace, call->code, call->depth, call->ticks);
    return disable;
}

// It may be the one at which a histogram is made, which takes many times what a
// hook does, and is no part of it.
static bool leave_first(struct Call *call, struct Site *site)
{
    struct ThreadTrace *trace = call->trace;
    struct Paid before = Paid_by(trace);
    bool disable = ThreadTrace_leave(trace, call->code, site, call->depth,
                                     call->ticks, PATH_SLOW);

    if (Code_histogram(call->code))
        Paid_since(trace, &before, call->ticks,
                   Clock_read(&ocular_state.engine.clock) - call->ticks +
                       (uint64_t)trace
                           ->cost[ThreadTrace_leave_kind(call->code, site)]);
    return disable;
}

bool Call_leave(struct Call *call, struct Site *site)
{
    if (OCULAR_UNLIKELY(!Code_histogram(call->code)))
        return leave_first(call, site);
    return ThreadTrace_leave(call->trace, call->code, site, call->depth,
                             call->ticks, PATH_SLOW);
}
