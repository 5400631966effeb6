// SPDX-License-Identifier: MIT
// See own_lane.h.
#include "python/hooks/own_lane.h"
#include "ipc/base/now.h"

#define UNUSUAL 4 // times as long: something else ran

_Thread_local struct Lane *own_lane LANE_TLS;
static pthread_key_t lane_key;
static pthread_once_t lane_once = PTHREAD_ONCE_INIT;

static void end_lane(void *lane)
{
    Lane_end(lane);
    own_lane = NULL;
}

static void make_lane_key(void)
{
    pthread_key_create(&lane_key, end_lane);
}

struct Lane *OwnLane_get(struct State *state, uint64_t ticks)
{
    struct Session *session = state->engine.session;

    if (own_lane)
        return own_lane;
    own_lane = Lanes_add(&state->engine.lanes, state->engine.registry,
                         &state->engine.contention, state->engine.cost,
                         session && session->timeline, ticks);
    if (own_lane) {
        pthread_once(&lane_once, make_lane_key);
        pthread_setspecific(lane_key, own_lane);
        if (state->phase == PHASE_TRACING && session->sampler)
            Sampler_begin_thread(session->sampler,
                                 (uintptr_t)PyThreadState_Get());
    }
    return own_lane;
}

void OwnLane_end(void)
{
    if (!own_lane)
        return;
    pthread_setspecific(lane_key, NULL);
    end_lane(own_lane);
}

// Ticks of CPU time since the lane was lent, as far as they are ours: a garbage
// collection, a handler without events are the program's. A fork sets the clock
// back.
uint64_t OwnLane_lent_ticks(const struct Lane *lane)
{
    uint64_t ns = Now_ns(CLOCK_THREAD_CPUTIME_ID) - lane->cpu_start_ns;
    double ticks = (double)(int64_t)ns * 1e-9 * lane->contention->hz;

    if (ticks < 0 || ticks > (double)(UNUSUAL * lane->usual_ticks))
        return lane->usual_ticks;
    return (uint64_t)ticks;
}

void OwnLane_take_back(void)
{
    struct Lane *lane = own_lane;

    if (!lane || !lane->stands_for)
        return;
    own_lane = lane->stands_for;
    lane->stands_for = NULL;
    Cell_add(&own_lane->debt, OwnLane_lent_ticks(lane));
}
