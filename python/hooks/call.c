// SPDX-License-Identifier: MIT
#include "python/hooks/call.h"
#include "python/hooks/adopt.h"
#include "python/hooks/frame_stack.h"
#include "python/hooks/own_trace.h"
#include "python/hooks/thread_state.h"
#include "tracer/base/tsc_guard.h"

// The next constants are upper bounds in seconds. PAY_MOST_S is the bound for
// the rare work of one hook (typically 2 to 10 us) and for arming a code
// object. PAY_MOST_UNIT_S is the bound for arming one code unit, and
// PAY_MOST_HIT_S is the bound for counting one hit.
#define PAY_MOST_S 50e-6
#define PAY_MOST_UNIT_S 100e-9
#define PAY_MOST_HIT_S 500e-9

void Call_init(struct Call *call)
{
    *call = (struct Call){
        .ticks = Clock_read(&ocular_state.engine.clock),
        .armed = ocular_state.armed,
        .counted = Counter_get(&ocular_state.engine.counting.counted),
    };
}

bool Call_look(struct Call *call, PyObject *const *args, size_t nargsf)
{
    if (PyVectorcall_NARGS(nargsf) < 2 || TscGuard_has_tripped())
        return false;
    call->code = Adopt_find(&ocular_state, args[0]);
    if (!call->code || !PyLong_Check(args[1]))
        return false;
    // The code that counts the event ignores a code unit that is too large.
    call->unit = Call_unit(args[1]);
    call->trace = OwnTrace_get(&ocular_state, call->ticks);
    if (!call->trace)
        return false;
    if (call->trace->name_asks)
        ThreadTraces_ask_name(&ocular_state.engine.traces, call->trace);
    call->state = THREAD_STATE_CALL();
    call->depth = ThreadState_depth(call->state);
    ThreadTrace_set_state(call->trace, (uintptr_t)call->state, call->state->id,
                          call->ticks);
    return Hit_fits(call->depth, call->unit, 0);
}

bool Call_resumes(const struct Call *call)
{
    const struct Site *site = Code_site(call->code, 2 * call->unit);

    return site && site->kind == SITE_RESUME;
}

void Call_begin(struct Call *call)
{
    struct Counting *counting = &ocular_state.engine.counting;
    int64_t span = Counting_turn(counting, call->trace, call->ticks);

    Counting_begin(counting);
    if (call->trace != counting->ring.trace ||
        span > (int64_t)counting->ring.brief)
        call->trace->spent =
            ThreadTrace_ask(call->trace, span,
                            HitRing_site(call->code->who.address, call->unit));
    // If the chunk differs from the last event's chunk, the thread runs on
    // another stack, or in another chunk of the same stack.
    if (call->trace->chunk != ThreadState_chunk(call->state))
        FrameStack_switch(call->trace, call->state, call->depth, call->ticks);
}

bool Call_count(struct Call *call, enum HitKind kind, size_t to)
{
    struct Hit hit;

    to = FrameStack_to(call->state, kind, to);
    hit = (struct Hit){
        .ticks = call->ticks,
        .who = Hit_who(call->code->who.address, kind),
        .where = Hit_where(call->depth, call->unit, to),
    };
    return Counting_count(&ocular_state.engine.counting, call->trace,
                          call->code, &hit);
}

uint64_t Call_beyond(uint64_t taken, uint64_t hits, const struct Armed *since)
{
    const struct Armed *armed = &ocular_state.armed;
    double most = PAY_MOST_S + PAY_MOST_HIT_S * (double)hits;
    uint64_t ticks;

    if (since)
        most += PAY_MOST_S * (double)(armed->codes - since->codes) +
                PAY_MOST_UNIT_S * (double)(armed->units - since->units);
    ticks = (uint64_t)(most * Clock_hz(&ocular_state.engine.clock));
    return (int64_t)taken > (int64_t)ticks ? taken - ticks : 0;
}

static void pay(const struct Call *call, struct ThreadTrace *trace,
                uint64_t taken)
{
    uint64_t hits =
        Counter_get(&ocular_state.engine.counting.counted) - call->counted;
    uint64_t beyond = Call_beyond(taken, hits, &call->armed);

    Counter_add(&trace->overhead, taken);
    Counter_add(&trace->stolen, beyond);
    Counter_add(&trace->paid, taken - beyond);
}

void Call_end(struct Call *call)
{
    uint64_t now = Clock_read(&ocular_state.engine.clock);

    if (ocular_state.fast)
        pay(call, call->trace, now - call->ticks);
    Counting_go_on(&ocular_state.engine.counting, call->trace, now);
    call->paid = true;
    Counting_end(&ocular_state.engine.counting);
}

bool Call_count_alone(struct Call *call, enum HitKind kind, size_t to)
{
    bool disable;

    Call_begin(call);
    disable = Call_count(call, kind, to);
    Call_end(call);
    return disable;
}

void Call_pay(struct Call *call)
{
    if (call->paid || !own_trace || TscGuard_has_tripped())
        return;
    Counting_begin(&ocular_state.engine.counting);
    pay(call, own_trace, Clock_read(&ocular_state.engine.clock) - call->ticks);
    Counting_end(&ocular_state.engine.counting);
    call->paid = true;
}
