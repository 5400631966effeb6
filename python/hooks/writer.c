// SPDX-License-Identifier: MIT
#include "python/hooks/writer.h"
#include "python/hooks/call.h"
#include "tracer/base/tsc_guard.h"

static void push(struct HitRing *ring, uint64_t ticks, uint64_t who,
                 uint64_t where)
{
    if (atomic_load_explicit(&ring->head, memory_order_relaxed) == ring->limit)
        Counting_make_room(&ocular_state.engine.counting);
    HitRing_push(ring, ticks, who, where);
}

// Writes how the thread has spent the `span` ticks that end now.
static void push_spent(struct HitRing *ring, int64_t span, uint32_t site)
{
    struct Spent spent = ThreadTrace_ask(own_trace, span, site);

    if (spent.taken || spent.ran)
        push(ring, Clock_counter(), Hit_who((uintptr_t)spent.taken, HIT_TAKEN),
             (uint64_t)spent.ran);
}

// If the newest hit came from another thread, writes a hit that names this
// thread. After a short time this thread has only waited for the GIL, so the
// kernel is not asked. Returns false if the event must be counted at once.
static bool turn(struct HitRing *ring, uint32_t site)
{
    const PyThreadState *state = ThreadState_fast();
    struct ThreadTrace *trace = own_trace;
    uint64_t ticks = Clock_counter();
    int64_t span;

    if (trace->name_asks || trace->chunk != ThreadState_chunk(state))
        return false;
    span = Counting_turn(&ocular_state.engine.counting, trace, ticks);
    ThreadTrace_set_state(trace, (uintptr_t)state, state->id, ticks);
    push(ring, ticks, Hit_who((uintptr_t)trace, HIT_THREAD), 0);
    ring->trace = trace;
    ring->chunk = trace->chunk;
    HitRing_wake(ring);
    push_spent(ring, span, site);
    return true;
}

bool Writer_write_again(PyObject *code, enum HitKind kind, size_t unit,
                        size_t to)
{
    struct Counting *counting = &ocular_state.engine.counting;
    struct HitRing *ring = &counting->ring;
    uint64_t begin = Clock_counter(), span = begin - ring->last, waited = 0;
    uint64_t counted = Counter_get(&counting->counted), taken;
    uint32_t site = HitRing_site((uintptr_t)code, unit);
    bool full;

    if (!ocular_state.fast || !own_trace || own_trace->name_asks)
        return false;
    if (TscGuard_has_tripped()) // The next lines may call the kernel.
        return false;
    full =
        atomic_load_explicit(&ring->head, memory_order_relaxed) == ring->limit;
    if (full && !Counting_make_room(counting))
        waited = Clock_counter() - begin;
    if (own_trace != ring->trace) {
        if (!turn(ring, site))
            return false;
    } else if (span > HitRing_brief(ring, kind)) {
        push_spent(ring, (int64_t)span, site);
    } else if (!full) {
        return false;
    }
    taken = Clock_counter() - begin;
    push(ring, begin + taken, Hit_who(taken, HIT_PAID),
         waited + Call_beyond(taken - waited,
                              Counter_get(&counting->counted) - counted, NULL));
    if (atomic_load_explicit(&ring->head, memory_order_relaxed) == ring->limit)
        Counting_make_room(counting);
    return Writer_write(code, kind, unit, to);
}

bool Writer_pay(uint64_t begin, uint64_t more)
{
    struct HitRing *ring = &ocular_state.engine.counting.ring;
    uint64_t now = Clock_counter();

    if (!ocular_state.fast || !own_trace || own_trace != ring->trace ||
        begin - ring->last > HitRing_brief(ring, HIT_C_END) ||
        atomic_load_explicit(&ring->head, memory_order_relaxed) == ring->limit)
        return false;
    HitRing_push(ring, now, Hit_who(now - begin + more, HIT_PAID),
                 Call_beyond(now - begin, 0, NULL));
    return true;
}
