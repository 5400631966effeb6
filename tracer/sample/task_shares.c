// SPDX-License-Identifier: MIT
#include "tracer/sample/task_shares.h"

#include <math.h>

// ns for which the entry of a single task is kept after it was last read.
#define KEPT_NS 5e9
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

// Returns the share of a core in the window since `begin`, when the window had
// `before_ns` ns already.
static double share_since(const struct ShareValue *cpu,
                          const struct ShareTime *begin, double before_ns,
                          const struct ShareTime *now)
{
    double kept = ShareTime_decay(begin->age, now->age);
    double ns = ShareValue_window(cpu, now) * now->full_ns - before_ns * kept;

    return fmax(ns, 0) / (now->full_ns - begin->full_ns * kept);
}

double TaskShares_read(const struct TaskShares *shares, uint32_t id,
                       const struct ShareTime *now)
{
    const struct ShareTime *begin = &shares->begin;
    unsigned at = find(shares, id);

    if (at == TASK_SHARES || now->ns - begin->ns < LEAST_NS)
        return NAN;
    return Counter_get(&shares->all[at].id)
               ? share_since(&shares->all[at].cpu, begin, 0, now)
               : 0;
}

// --- Single tasks ------------------------------------------------------------

static struct SingleShare *set_of(struct TaskShares *shares, uintptr_t root)
{
    uint64_t hash = root * UINT64_C(0x9e3779b97f4a7c15);

    return shares->singles[(hash >> 40) % SINGLE_SETS];
}

void TaskShares_add_single(struct TaskShares *shares, uintptr_t root,
                           uint64_t ticks, struct ShareCredit *credit)
{
    struct SingleShare *set = set_of(shares, root);

    for (unsigned i = 0; i < SINGLE_WAYS; i++)
        // This load pairs with the release store in TaskShares_read_single.
        if (atomic_load_explicit(&set[i].root, memory_order_acquire) == root &&
            ticks >= Counter_get(&set[i].ticks))
            ShareValue_credit(&set[i].cpu, credit);
}

// Returns the entry of the root, or an entry that was not read for a while, or
// NULL.
static struct SingleShare *find_single(struct TaskShares *shares,
                                       uintptr_t root,
                                       const struct ShareTime *now)
{
    struct SingleShare *set = set_of(shares, root), *oldest = set;

    for (unsigned i = 0; i < SINGLE_WAYS; i++) {
        if (Counter_get(&set[i].root) == root)
            return &set[i];
        if (set[i].read_ns < oldest->read_ns)
            oldest = &set[i];
    }
    return Counter_get(&oldest->root) && now->ns - oldest->read_ns < KEPT_NS
               ? NULL
               : oldest;
}

double TaskShares_read_single(struct TaskShares *shares, uintptr_t root,
                              uint64_t key, uint64_t ticks,
                              const struct ShareTime *now)
{
    struct SingleShare *single = find_single(shares, root, now);

    if (!single)
        return NAN;
    single->read_ns = now->ns;
    if (single->key != key || Counter_get(&single->root) != root) {
        single->key = key;
        single->begin = *now;
        single->before_ns = ShareValue_window(&single->cpu, now) * now->full_ns;
        Counter_set(&single->ticks, ticks);
        atomic_store_explicit(&single->root, root, memory_order_release);
    }
    return now->ns - single->begin.ns < LEAST_NS
               ? NAN
               : share_since(&single->cpu, &single->begin, single->before_ns,
                             now);
}
