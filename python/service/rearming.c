// SPDX-License-Identifier: MIT
// See rearming.h.
#include "python/service/rearming.h"
#include "python/hooks/adopt.h"
#include "tracer/code/arming.h"
#include "tracer/code/links.h"

static bool has_time(const struct State *state, uint64_t deadline)
{
    return Clock_read(&state->engine.clock) < deadline;
}

static uint64_t threshold_of(const struct Rearming *rearming)
{
    return rearming->state->engine.session->config.threshold;
}

static void spend(struct Rearming *rearming, double seconds)
{
    Control_spend(rearming->control, seconds);
}

// One of all: its callees have their own turn.
static void rearm_one(struct Rearming *rearming, struct Code *code,
                      uint64_t hits)
{
    const struct PolicyFunction function = {
        .bytes = 2 * code->layout.unit_count, .sites = code->layout.jump_count};

    Adopt_rearm(rearming->state, code, hits);
    spend(rearming, Policy_cost(&rearming->costs, &function, (uint32_t)hits));
}

// Somebody has asked for it: also for what it takes of its own, which nobody
// knows while it calls something dark.
static void rearm_wished(struct Rearming *rearming, struct Code *code)
{
    const struct PolicyFunction function = {
        .callees = code->hot.warming ? 0 : code->hot.dark_callees,
        .reach = code->plan.window.reach,
    };

    // A threshold may be beyond all means.
    rearm_one(rearming, code,
              Policy_all_hits(&rearming->costs, 1, rearming->control->urgent,
                              threshold_of(rearming)));
    if (function.callees) {
        Code_want_callees(code, Policy_callee_hits(function.reach));
        spend(rearming, Policy_cost(&rearming->costs, &function, 0));
    }
}

// Every dark or partly dark function, a slice at a time.
static void rearm_all(struct Rearming *rearming, uint64_t deadline)
{
    struct State *state = rearming->state;

    while (state->rearm_next && rearming->control->urgent > 0 &&
           has_time(rearming->state, deadline)) {
        struct Code *code = state->rearm_next;

        state->rearm_next = Registry_next(code);
        if (!code->hot.exact)
            rearm_one(rearming, code, rearming->all_hits);
    }
}

// As many hits as the budget's burst can bear of so many functions.
static void begin_round(struct Rearming *rearming)
{
    struct State *state = rearming->state;

    rearming->all_hits = Policy_all_hits(
        &rearming->costs, Registry_count(state->engine.registry),
        rearming->control->urgent, threshold_of(rearming));
    state->rearm_next = Registry_first(state->engine.registry);
}

void Rearming_wanted(struct Rearming *rearming, uint64_t deadline)
{
    struct State *state = rearming->state;
    struct Session *session = state->engine.session;
    uint32_t id;

    while (rearming->control->urgent > 0 &&
           has_time(rearming->state, deadline) &&
           Rearm_pop(&session->rearm, &id)) {
        struct Code *code = Registry_by_id(state->engine.registry, id);

        // A round that is under way goes on: begun anew by each request, it
        // might never come to its end.
        if (id == 0 && !state->rearm_next)
            begin_round(rearming);
        else if (code)
            rearm_wished(rearming, code);
    }
    rearm_all(rearming, deadline);
}

static void rearm_item(struct Rearming *rearming, const struct PlanItem *item)
{
    struct State *state = rearming->state;
    struct Code *code = Registry_by_id(state->engine.registry, item->id);
    uint64_t most = threshold_of(rearming), hits;
    bool dark;

    if (!code)
        return;
    dark = code->hot.dark;
    hits = item->hits < most ? item->hits : most;
    // Its own callee: as deep as it goes before the first call of it ends.
    if (item->callee_hits > hits && Code_has_caller(code, code->hot.id))
        hits = item->callee_hits;
    spend(rearming, item->seconds);
    if (dark || code->hot.broken) {
        if (Adopt_rearm(state, code, hits)) {
            code->plan.refusals++;
            return;
        }
        if (dark && item->steady_s > 0)
            Code_give(code, rearming->control->hits, code->cold.renewed);
        code->plan.refusals = 0;
    }
    code->plan.window_open = item->times;
    RearmWindow_begin(&code->plan.window, Counter_get(&code->hot.self_calls));
    if (item->callee_hits)
        Code_want_callees(code, item->callee_hits);
}

bool Rearming_planned(struct Rearming *rearming, uint64_t deadline)
{
    while (rearming->control->available > 0) {
        const struct PlanItem *item;

        if (!has_time(rearming->state, deadline))
            return rearming->plan.next < rearming->plan.count;
        item = Plan_pop(&rearming->plan);
        if (!item)
            return false;
        rearm_item(rearming, item);
    }
    return false;
}

void Rearming_update_costs(struct Rearming *rearming)
{
    const struct Engine *engine = &rearming->state->engine;
    const int64_t *cost = engine->cost;
    double tick = ACCOUNT_COLD / Clock_hz(&engine->clock);
    int64_t call = cost[HOOK_ENTER] + cost[HOOK_LEAVE];

    rearming->costs.call = (double)call * tick;
    rearming->costs.site = (double)cost[HOOK_JUMP] * tick;
}

void Rearming_release(struct Rearming *rearming)
{
    Plan_release(&rearming->plan);
}
