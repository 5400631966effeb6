// SPDX-License-Identifier: MIT
#include "tracer/sample/task_shares.h"

#include <math.h>

// A share is known only after this number of ns of sampling.
#define LEAST_NS 1e9

// Returns the index of the group's entry, or of the free entry for it, or
// TASK_SHARES if there are too many groups.
static unsigned find(const struct TaskShares *shares, uint32_t id)
{
    for (unsigned i = 0; i < TASK_SHARES; i++) {
        unsigned at = (id + i) % TASK_SHARES;
        // This load pairs with the release store in TaskShares_add.
        uint64_t found =
            atomic_load_explicit(&shares->all[at].id, memory_order_acquire);

        if (!found || found == id)
            return at;
    }
    return TASK_SHARES;
}

void TaskShares_add(struct TaskShares *shares, const struct Code *group,
                    struct ShareCredit *credit)
{
    unsigned at = find(shares, group->hot.id);

    if (at == TASK_SHARES)
        return;
    ShareValue_credit(&shares->all[at].cpu, credit);
    atomic_store_explicit(&shares->all[at].id, group->hot.id,
                          memory_order_release);
}

double TaskShares_read(const struct TaskShares *shares, uint32_t id,
                       const struct ShareTime *now)
{
    const struct ShareTime *begin = &shares->begin;
    unsigned at = find(shares, id);
    // The window of the shares may have begun before `begin`.
    double kept = ShareTime_decay(begin->age, now->age);
    double seen_ns = now->full_ns - begin->full_ns * kept;

    if (at == TASK_SHARES || now->ns - begin->ns < LEAST_NS)
        return NAN;
    return Counter_get(&shares->all[at].id)
               ? ShareValue_window(&shares->all[at].cpu, now) * now->full_ns /
                     seen_ns
               : 0;
}
