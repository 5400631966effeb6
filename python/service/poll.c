// SPDX-License-Identifier: MIT
#include "python/service/poll.h"
#include "tracer/code/specialisation_scan.h"

#include <string.h>

// Poll_slice makes at least SLICE_LOOKS scans, even after the deadline, because
// the clock also runs while another program has the CPU. Poll_now makes at
// least NOW_LOOKS scans. A scan of unchanged code takes 0.2 us.
#define SLICE_LOOKS 8
#define NOW_LOOKS 1000
#define NOW_S 1e-3

static uint64_t ticks_of(const struct State *state, double s)
{
    return (uint64_t)(s * Clock_hz(&state->engine.clock));
}

void Poll_reset(struct Poll *poll, struct State *state)
{
    memset(poll, 0, sizeof *poll);
    poll->round_ticks = Clock_read(&state->engine.clock);
    state->look_next = NULL;
}

static void scan(struct State *state, struct Code *code, uint64_t ticks)
{
    const PyCodeObject *object = (const PyCodeObject *)code->who.address;

    // If memory is out, the last known specialisation of the code is kept.
    Specialisation_scan(code, (const uint8_t *)object->co_code_adaptive,
                        &state->engine.opcodes,
                        &state->engine.session->transitions, ticks);
}

static void look_at_hottest(const struct Poll *poll, struct State *state)
{
    uint64_t now = Clock_read(&state->engine.clock);
    unsigned i;

    for (i = 0; i < poll->hottest.count; i++) {
        struct Code *code =
            Registry_by_id(state->engine.registry, poll->hottest.ids[i]);

        if (code)
            scan(state, code, now);
    }
}

// Scans on from the function at which the last call stopped. Scans each
// function at most once.
static void look_at_rest(struct Poll *poll, struct State *state, unsigned least,
                         uint64_t deadline)
{
    struct Registry *registry = state->engine.registry;
    struct Code *first = NULL, *code;
    uint64_t now;

    while ((now = Clock_read(&state->engine.clock)) < deadline || least) {
        code = state->look_next ? state->look_next : Registry_first(registry);
        if (!code || code == first)
            return;
        if (!first)
            first = code;
        scan(state, code, now);
        least -= least != 0;
        poll->round_done++;
        state->look_next = Registry_next(code);
        if (!state->look_next) {
            poll->round_ticks = now;
            poll->round_done = 0;
        }
    }
}

static bool is_behind(const struct Poll *poll, const struct State *state)
{
    double elapsed =
        (double)(Clock_read(&state->engine.clock) - poll->round_ticks) /
        (double)ticks_of(state, POLL_ROUND_S);
    uint64_t count = atomic_load_explicit(&state->engine.registry->count,
                                          memory_order_relaxed);

    // A round is behind its schedule only if it should have scanned at least
    // one more function. Otherwise a new round would be behind its schedule at
    // once.
    return (double)poll->round_done + 1 <= elapsed * (double)count;
}

bool Poll_slice(struct Poll *poll, struct State *state, bool hot,
                uint64_t deadline)
{
    struct Transitions *log = &state->engine.session->transitions;

    if (!Transitions_try(log))
        return true;
    if (hot)
        look_at_hottest(poll, state);
    look_at_rest(poll, state, SLICE_LOOKS, deadline);
    Transitions_unlock(log);
    return is_behind(poll, state);
}

void Poll_now(struct Poll *poll, struct State *state)
{
    struct Transitions *log = &state->engine.session->transitions;

    Transitions_lock(log);
    look_at_hottest(poll, state);
    look_at_rest(poll, state, NOW_LOOKS,
                 Clock_read(&state->engine.clock) + ticks_of(state, NOW_S));
    Transitions_unlock(log);
}

void Poll_all(struct State *state)
{
    struct Transitions *log = &state->engine.session->transitions;
    uint64_t now = Clock_read(&state->engine.clock);
    struct Code *code;

    Transitions_lock(log);
    for (code = Registry_first(state->engine.registry); code;
         code = Registry_next(code))
        scan(state, code, now);
    Transitions_unlock(log);
}
