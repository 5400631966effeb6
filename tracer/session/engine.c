// SPDX-License-Identifier: MIT
// Sets up and frees the context of all tracing in the process. The caller holds
// the GIL.
#include "tracer/session/engine.h"
#include "tracer/code/arming.h"
#include "tracer/code/means.h"
#include "tracer/code/spans.h"
#include "tracer/timeline/own_event.h"

#include <errno.h>
#include <string.h>

int Engine_init(struct Engine *engine)
{
    memset(engine, 0, sizeof *engine);
    engine->registry = Registry_new();
    if (!engine->registry)
        return -ENOMEM;
    ThreadTraces_init(&engine->traces);
    Names_init(&engine->names);
    EventLoops_init(&engine->loops);
    sem_init(&engine->due, 0, 0);
    pthread_mutex_init(&engine->ending, NULL);
    engine->traces.half_full = &engine->due;
    // 1e9 ticks per second is a guess, because the rate of the time stamp
    // counter is not known yet.
    Contention_init(&engine->contention, 1e9);
    Counting_init(&engine->counting, engine->registry, &engine->contention,
                  &engine->due);
    return 0;
}

void Engine_release(struct Engine *engine)
{
    ThreadTraces_keep_only(&engine->traces, NULL);
    Names_release(&engine->names);
    EventLoops_reset(&engine->loops, 0, 0);
    Registry_free(engine->registry);
    engine->registry = NULL;
}

// When a function gets its hooks again, reduces the number of dark callees of
// all its known callers.
static void clear_callers(struct Engine *engine, struct Code *code)
{
    uint32_t i;

    if (!code->cold.reported)
        return;
    code->cold.reported = false;
    for (i = 0; i < code->links.caller_count; i++) {
        struct Code *caller =
            Registry_by_id(engine->registry, code->links.callers[i]);

        if (caller)
            Code_lose_dark_callee(caller);
    }
}

// Ends the time in which a function had no hooks (was dark), and writes this
// time into the timeline.
static void end_dark(struct Engine *engine, struct Code *code)
{
    uint64_t since = atomic_exchange_explicit(&code->cold.dark_since, 0,
                                              memory_order_relaxed);
    uint64_t now = Clock_read(&engine->clock);
    struct Event event;

    if (!since || !engine->rearmed || now <= since)
        return;
    event = OwnEvent_rearmed(now, code->hot.id, now - since);
    Ring_push(engine->rearmed, now, EVENT_REARMED, event.what);
}

// CPython does not specialise an instruction that has a hook. Each site that
// Ocular does not need (Site.redundant) therefore loses its hook at the first
// hit.
static void darken_redundant(struct Engine *engine, const struct Code *code)
{
    uint32_t i;

    for (i = 0; i < code->layout.site_count; i++) {
        const struct Site *site = &code->layout.sites[i];
        enum HitKind kind =
            site->kind == SITE_BRANCH_RIGHT ? HIT_RIGHT : HIT_BRANCH;

        if (site->redundant && !site->dark)
            HitRing_darken(
                &engine->counting.ring,
                HitRing_key(Hit_who(code->who.address, kind), site->unit));
    }
}

void Engine_add(struct Engine *engine, struct Code *code)
{
    Counting_begin(&engine->counting);
    Registry_add(engine->registry, code);
    darken_redundant(engine, code);
    Counting_end(&engine->counting);
}

void Engine_rearm(struct Engine *engine, struct Code *code, uint64_t threshold,
                  bool jumps)
{
    uint64_t ticks;

    Counting_begin(&engine->counting);
    ticks = Clock_read(&engine->clock);
    if (!Latency_sees_ends(&engine->registry->latencies, code)) {
        ThreadTraces_forget(&engine->traces, code);
        // Calls of threads that have ended are still in this number.
        code->hot.running = 0;
        Latency_cut(code);
    }
    if (code->hot.dark) {
        Code_end_dark(code, Clock_hz(&engine->clock));
        clear_callers(engine, code);
    }
    end_dark(engine, code);
    Code_age_histogram(code);
    engine->contention.armed++;
    Spans_open(code, ticks);
    Code_rearm(code, threshold, jumps, ticks);
    darken_redundant(engine, code);
    Counting_end(&engine->counting);
}

void Engine_note_edge(struct Engine *engine, const struct CallEdge *edge)
{
    struct Code *caller = Registry_by_id(engine->registry, edge->caller);
    struct Code *callee = Registry_by_id(engine->registry, edge->callee);

    // One of the two functions may have been freed.
    if (caller && callee)
        Engine_link(engine, caller, callee);
}

void Engine_look(struct Engine *engine)
{
    Counting_begin(&engine->counting);
    ThreadTraces_look(&engine->traces, engine->registry);
    Counting_end(&engine->counting);
}

void Engine_link(struct Engine *engine, struct Code *caller,
                 struct Code *callee)
{
    Counting_begin(&engine->counting);
    Registry_link(engine->registry, caller, callee);
    Counting_end(&engine->counting);
}

void Engine_retire(struct Engine *engine, struct Code *code)
{
    Exceptions_forget_code(&engine->exceptions, code);
    Counting_begin(&engine->counting);
    ThreadTraces_forget(&engine->traces, code);
    Counting_forget(&engine->counting, code);
    if (code->hot.dark)
        clear_callers(engine, code);
    end_dark(engine, code);
    Registry_retire(engine->registry, code, Clock_read(&engine->clock));
    Counting_end(&engine->counting);
}
