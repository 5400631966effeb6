// SPDX-License-Identifier: MIT
// See idle.h.
#include "tracer/budget/idle.h"

#include <math.h>

#define FIND_S 5.0 // between two searches: without a sample

static bool is_idle(struct Code *code, uint64_t since)
{
    uint32_t ns = (uint32_t)Counter_get(&code->share.cumulative.total_ns);
    uint32_t before = code->plan.sampled_ns;

    code->plan.sampled_ns = ns;
    return ns == before && Counter_get(&code->hot.last_seen) < since;
}

void Idle_find(struct Idle *idle, struct Active *active, uint64_t ticks,
               double hz)
{
    uint64_t period = (uint64_t)(FIND_S * hz), age = (uint64_t)(IDLE_S * hz);

    idle->found.count = 0;
    // A counter that was set back delays nothing by more than one period.
    if (ticks < idle->due && idle->due - ticks <= period)
        return;
    idle->due = ticks + period;
    idle->since = ticks > age ? ticks - age : 0;
    Active_begin(active);
    for (size_t i = 0; i < active->count; i++) {
        Active_fetch(active, i);
        if (is_idle(active->codes[i], idle->since))
            ActiveIds_add(&idle->found, active->codes[i]->hot.id);
    }
    Active_end(active);
}

bool Idle_let_go(struct Idle *idle, struct Registry *registry)
{
    struct Code *code;

    if (!idle->found.count)
        return false;
    code = Registry_by_id(registry, idle->found.ids[--idle->found.count]);
    if (code && Active_let_go(&registry->active, code, idle->since))
        code->plan.rate = NAN;
    return true;
}

void Idle_release(struct Idle *idle)
{
    ActiveIds_release(&idle->found);
}
