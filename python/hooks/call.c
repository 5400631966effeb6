// SPDX-License-Identifier: MIT
// See call.h.
#include "python/hooks/call.h"
#include "python/hooks/adopt.h"
#include "python/hooks/frames.h"
#include "python/hooks/own_trace.h"
#include "python/hooks/thread_state.h"
#include "tracer/base/tsc_guard.h"

// At most so long takes what only few events need (2 to 10 us are usual), each
// code object that is armed, and each unit of it, and each hit that is counted.
#define PAY_MOST_S 50e-6
#define PAY_MOST_UNIT_S 100e-9
#define PAY_MOST_HIT_S 500e-9

#define NAME_HITS 1 // between two questions for a thread's name

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
    call->unit = Call_unit(args[1]);
    call->trace = OwnTrace_get(&ocular_state, call->ticks);
    if (!call->trace || call->unit >= call->code->layout.unit_count)
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
    uint64_t last = ocular_state.engine.counting.ring.last;

    Counting_begin(&ocular_state.engine.counting);
    if (!ocular_state.fast)
        call->trace->taken =
            ThreadTrace_ask(call->trace, (int64_t)(call->ticks - last));
    // It comes from another stack than the last one, or from another part of
    // the same.
    if (call->trace->chunk != ThreadState_chunk(call->state))
        Frames_switch(call->trace, call->state, call->depth, call->ticks);
}

bool Call_count(struct Call *call, enum HitKind kind, size_t to)
{
    const struct Frame *caller = call->trace->top;
    struct Hit hit = {
        .ticks = call->ticks,
        .who = Hit_who(call->code->who.address, kind),
        .where = Hit_where(call->depth, call->unit, to),
    };

    if (kind <= HIT_THROW && (caller->depth >= call->depth ||
                              call->code->hot.last_caller != caller->id))
        Frames_settle(call->trace, call->code, call->state, call->depth,
                      call->ticks);
    return Counting_count(&ocular_state.engine.counting, call->trace,
                          call->code, &hit);
}

// Ticks that are no time of the program's. Nor are they a cost of ours, where
// such a thing never takes so long: then others had the CPU.
static void pay(const struct Call *call, struct ThreadTrace *trace,
                uint64_t taken)
{
    const struct Armed *armed = &ocular_state.armed;
    uint64_t hits =
        Counter_get(&ocular_state.engine.counting.counted) - call->counted;
    double most =
        PAY_MOST_S * (1 + (double)(armed->codes - call->armed.codes)) +
        PAY_MOST_UNIT_S * (double)(armed->units - call->armed.units) +
        PAY_MOST_HIT_S * (double)hits;
    uint64_t ticks = (uint64_t)(most * Clock_hz(&ocular_state.engine.clock));

    Counter_add(&trace->overhead, taken);
    if ((int64_t)taken > (int64_t)ticks)
        Counter_add(&trace->stolen, taken - ticks);
}

// The hooks go on from here, on this thread.
static void go_on(const struct Call *call, uint64_t now)
{
    struct HitRing *ring = &ocular_state.engine.counting.ring;
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

    ring->trace = call->trace;
    ring->chunk = call->trace->chunk;
    ring->last = now;
    ring->limit =
        head + (call->trace->name_asks ? NAME_HITS : HIT_RING_HITS / 2);
    Counting_set_brief(&ocular_state.engine.counting);
}

void Call_end(struct Call *call)
{
    uint64_t now = Clock_read(&ocular_state.engine.clock);

    if (ocular_state.fast)
        pay(call, call->trace, now - call->ticks);
    go_on(call, now);
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
    if (call->paid || !own_trace)
        return;
    Counting_begin(&ocular_state.engine.counting);
    pay(call, own_trace, Clock_read(&ocular_state.engine.clock) - call->ticks);
    Counting_end(&ocular_state.engine.counting);
    call->paid = true;
}
