// SPDX-License-Identifier: MIT
#include "python/hooks/own_trace.h"
#include "python/hooks/thread_state.h"

_Thread_local struct ThreadTrace *own_trace OWN_TRACE_TLS;
static pthread_key_t trace_key;
static pthread_once_t trace_once = PTHREAD_ONCE_INIT;

static void end_trace(void *trace)
{
    // own_trace is cleared first, because a sample's signal may arrive
    // (OwnTrace_state).
    own_trace = NULL;
    ThreadTrace_end(trace);
}

static void make_key(void)
{
    pthread_key_create(&trace_key, end_trace);
}

struct ThreadTrace *OwnTrace_get(struct State *state, uint64_t ticks)
{
    struct Session *session = state->engine.session;

    if (own_trace)
        return own_trace;
    // ThreadTraces_add may reuse an ended record, so the hits of ended records
    // are counted first.
    Counting_catch_up(&state->engine.counting);
    own_trace = ThreadTraces_add(&state->engine.traces, state->engine.registry,
                                 &state->engine.contention,
                                 session && session->config.timeline, ticks);
    if (own_trace) {
        const PyThreadState *thread = PyThreadState_Get();

        // A record that is reused may still have the event loop of its old
        // thread.
        EventLoops_leave(&state->engine.loops, own_trace);
        // The thread that has written the newest hit keeps its time.
        Counting_turn(&state->engine.counting, own_trace, ticks);
        // The newest hit may belong to an ended record that had the same
        // address as the new record. Therefore the ring forgets which thread's
        // record has written the newest hit.
        state->engine.counting.ring.trace = HIT_RING_NOBODY;
        ThreadTrace_set_state(own_trace, (uintptr_t)thread, thread->id, ticks);
        pthread_once(&trace_once, make_key);
        pthread_setspecific(trace_key, own_trace);
        if (state->phase == PHASE_TRACING && session && session->sampler)
            Sampler_begin_thread(session->sampler, (uintptr_t)thread);
    }
    return own_trace;
}

void OwnTrace_end(void)
{
    if (!own_trace)
        return;
    pthread_setspecific(trace_key, NULL);
    end_trace(own_trace);
}

uintptr_t OwnTrace_state(void)
{
    const struct ThreadTrace *trace = own_trace;
    const PyThreadState *thread =
        ThreadState_is_found() ? ThreadState_fast() : NULL;

    if (thread)
        return (uintptr_t)thread;
    return trace ? ThreadTrace_state(trace) : 0;
}
