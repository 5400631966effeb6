// SPDX-License-Identifier: MIT
// See paid.h.
#include "python/hooks/paid.h"

// At most so long takes what only few events need (2 to 10 us are usual), and
// each code object that is armed, and each unit of it.
#define PAY_MOST_S 50e-6
#define PAY_MOST_UNIT_S 100e-9

struct Paid Paid_by(const struct ThreadTrace *trace)
{
    struct Paid paid = {.armed = ocular_state.armed};

    if (trace) {
        paid.overhead = Counter_own(&trace->overhead);
        paid.stolen = Counter_own(&trace->stolen);
    }
    return paid;
}

void Paid_add(struct ThreadTrace *trace, const struct Paid *before,
              uint64_t taken)
{
    const struct Armed *armed = &ocular_state.armed;
    double most =
        PAY_MOST_S * (1 + (double)(armed->codes - before->armed.codes)) +
        PAY_MOST_UNIT_S * (double)(armed->units - before->armed.units);
    uint64_t ticks = (uint64_t)(most * Clock_hz(&ocular_state.engine.clock));

    Counter_add(&trace->overhead, taken);
    if ((int64_t)taken > (int64_t)ticks)
        Counter_add(&trace->stolen, taken - ticks);
}

void Paid_since(struct ThreadTrace *trace, const struct Paid *before,
                uint64_t ticks, uint64_t taken)
{
    int64_t now = (int64_t)(ticks - before->overhead);

    Counter_set(&trace->overhead, before->overhead);
    Counter_set(&trace->stolen, before->stolen);
    Paid_add(trace, before, taken);
    if (trace->last > now)
        trace->last = now;
}
