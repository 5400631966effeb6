// SPDX-License-Identifier: MIT
// Fork handlers: C's, which also cover a fork that Python does not know of,
// hold our locks across the fork so that the child finds them free.
#include "python/fork.h"
#include "python/adopt.h"
#include "python/governor.h"
#include "python/hook.h"
#include "python/tools.h"
#include "tracer/rcu.h"

#include <pthread.h>

static void before(void)
{
    // The first: it may take as long as a server's goodbye.
    pthread_mutex_lock(&ocular_state.engine.ending);
    pthread_mutex_lock(&ocular_state.engine.lanes.mutex);
    pthread_mutex_lock(&ocular_state.engine.names.mutex);
    Rcu_before_fork();
}

static void after_in_parent(void)
{
    Rcu_after_fork_parent();
    pthread_mutex_unlock(&ocular_state.engine.names.mutex);
    pthread_mutex_unlock(&ocular_state.engine.lanes.mutex);
    pthread_mutex_unlock(&ocular_state.engine.ending);
}

static void after_in_child(void)
{
    struct Engine *engine = &ocular_state.engine;

    Rcu_after_fork_child();
    pthread_mutex_init(&engine->names.mutex, NULL);
    pthread_mutex_init(&engine->ending, NULL);
    Lanes_keep_only(&engine->lanes, Hooks_own_lane());
    if (engine->session)
        Session_abandon(engine->session);
    if (Hooks_own_lane()) {
        // Nobody drains it here.
        Ring_free(Hooks_own_lane()->ring);
        Hooks_own_lane()->ring = NULL;
    }
    ocular_state.forked = ocular_state.phase != PHASE_IDLE;
}

int Fork_init(struct State *state)
{
    static bool done;
    int error;

    (void)state;
    if (done)
        return 0;
    error = pthread_atfork(before, after_in_parent, after_in_child);
    done = error == 0;
    return -error;
}

void Fork_after_in_child(struct State *state)
{
    if (!state->forked)
        return;
    state->phase = PHASE_STOPPING;
    Tools_disarm(state);
    if (Adopt_disarm(state) < 0)
        PyErr_Clear();
    Tools_close(state);
    Governor_abandon(state);
    state->look_next = state->rearm_next = NULL;
    if (Adopt_drop_all(state) < 0)
        PyErr_Clear();
    state->engine.session = NULL; // abandoned: it leaks, once
    state->users = 0;
    state->phase = PHASE_IDLE;
    state->forked = false;
}
