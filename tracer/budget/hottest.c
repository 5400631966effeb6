// SPDX-License-Identifier: MIT
// Ranks the functions in one pass over the registry. A function is inserted
// into the ranking if it is hotter than the coldest of the fifty ranked
// functions.
#include "tracer/budget/hottest.h"
#include "tracer/base/rcu.h"

// A sampled share of CPU time always counts more than a number of events.
#define SHARE_WEIGHT 1e12

// Returns how hot a function is, by its sampled share and the number of its
// events since the last ranking. The events of cold functions are not read,
// because most functions are cold.
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
    result += (double)(events - code->plan.ranked_events);
    code->plan.ranked_events = events;
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
    struct Code *code;

    hottest->count = 0;
    hottest->active = 0;
    hottest->ticks = ticks;
    Rcu_read_lock();
    for (code = Registry_first(registry); code; code = Registry_next(code)) {
        double value = heat(hottest, code, since, sampled);

        if (value > 0)
            insert(hottest, code->hot.id, value);
    }
    Rcu_read_unlock();
}
