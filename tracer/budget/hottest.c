// SPDX-License-Identifier: MIT
// One pass over the active functions, with an insertion into fifty places for
// what is warmer than the coldest there.
#include "tracer/budget/hottest.h"

#include <math.h>

#define SHARE_WEIGHT 1e12 // a share of any size is above all hits

static double heat(struct Hottest *hottest, struct Code *code, uint64_t since,
                   const struct ShareTime *sampled)
{
    uint64_t ran = Counter_get(&code->share.cpu.total_ns), events;
    double result = 0;

    if (ran && sampled)
        result = SHARE_WEIGHT * ShareValue_window(&code->share.cpu, sampled);
    if (Counter_get(&code->hot.last_seen) < since)
        return result;
    hottest->active += since > 0;
    events = Code_events(code);
    result += (uint32_t)events - code->plan.ranked_events;
    code->plan.ranked_events = (uint32_t)events;
    return result;
}

static void insert(struct Hottest *hottest, uint32_t id, double value)
{
    unsigned at = hottest->count;

    if (at == HOTTEST_COUNT) {
        if (value <= hottest->heat[at - 1])
            return;
        at--;
    } else {
        hottest->count++;
    }
    for (; at && hottest->heat[at - 1] < value; at--) {
        hottest->heat[at] = hottest->heat[at - 1];
        hottest->ids[at] = hottest->ids[at - 1];
    }
    hottest->heat[at] = value;
    hottest->ids[at] = id;
}

void Hottest_rank(struct Hottest *hottest, struct Registry *registry,
                  uint64_t ticks, const struct ShareTime *sampled)
{
    uint64_t since = hottest->ticks;
    struct Active *active = &registry->active;

    hottest->count = 0;
    hottest->active = 0;
    hottest->ticks = ticks;
    Active_begin(active);
    for (size_t i = 0; i < active->count; i++) {
        struct Code *code = active->codes[i];
        double value;

        Active_fetch(active, i);
        value = heat(hottest, code, since, sampled);
        if (value > 0)
            insert(hottest, code->hot.id, value);
    }
    Active_end(active);
}
