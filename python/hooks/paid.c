// SPDX-License-Identifier: MIT
// See paid.h.
#include "python/hooks/paid.h"

// At most so long takes what only few events need (2 to 10 us are usual), and
// each code object that is armed, and each unit of it.
#define PAY_MOST_S 50e-6
#define PAY_MOST_UNIT_S 100e-9

struct Paid Paid_by(const struct Lane *lane)
{
    struct Paid paid = {.armed = ocular_state.armed};

    if (lane) {
        paid.debt = Cell_own(&lane->debt);
        paid.kept = Cell_own(&lane->kept);
    }
    return paid;
}

void Paid_add(struct Lane *lane, const struct Paid *before, uint64_t taken)
{
    const struct Armed *armed = &ocular_state.armed;
    double most =
        PAY_MOST_S * (1 + (double)(armed->codes - before->armed.codes)) +
        PAY_MOST_UNIT_S * (double)(armed->units - before->armed.units);
    uint64_t ticks = (uint64_t)(most * Clock_hz(&ocular_state.engine.clock));

    Cell_add(&lane->debt, taken);
    if ((int64_t)taken > (int64_t)ticks)
        Cell_add(&lane->kept, taken - ticks);
}

void Paid_since(struct Lane *lane, const struct Paid *before, uint64_t ticks,
                uint64_t taken)
{
    int64_t now = (int64_t)(ticks - before->debt);

    Cell_set(&lane->debt, before->debt);
    Cell_set(&lane->kept, before->kept);
    Paid_add(lane, before, taken);
    if (lane->last > now)
        lane->last = now;
}
