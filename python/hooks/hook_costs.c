// SPDX-License-Identifier: MIT
// See hook_costs.h.
#include "python/hooks/hook_costs.h"
#include "python/hooks/median.h"

// Of what a call's two hooks cost, what a throw costs that nothing is done
// about. Measured (docs/overhead.md); what leaving costs is no measure of it:
// only the sum of a call's two hooks is known.
#define DARK_THROW_PART 0.4

// Of a call: what both hooks add, or what of that is within the callee.
static double cost_of_calls(const struct Probes *all, enum ProbeKind kind,
                            bool inside)
{
    double costs[PROBES_MAX];
    size_t count = 0, i;

    for (i = 0; i < all->count; i++) {
        const struct Probe *probe = &all->probes[i];

        if (probe->kind == kind && probe->calls > 0)
            costs[count++] =
                (inside ? probe->inside : probe->whole) / probe->calls;
    }
    return Median_of(costs, count);
}

// Of a jump, by the loops that have no branch, or of a branch, by the others.
static double cost_of_loops(const struct Probes *all, const double *jump)
{
    double costs[PROBES_MAX];
    size_t count = 0, i;

    for (i = 0; i < all->count; i++) {
        const struct Probe *probe = &all->probes[i];

        if (probe->kind != PROBE_LOOP)
            continue;
        if (jump && probe->branches > 0)
            costs[count++] =
                (probe->whole - *jump * probe->jumps) / probe->branches;
        else if (!jump && probe->branches <= 0 && probe->jumps > 0)
            costs[count++] = probe->whole / probe->jumps;
    }
    return Median_of(costs, count);
}

// Of a far offset, which a jump or a branch has two of: the same loop near by
// is the probe before. Like the others, without those that have seen nothing:
// another tool may take our id meanwhile.
static double cost_of_far(const struct Probes *all)
{
    double costs[PROBES_MAX];
    size_t count = 0, i;

    for (i = 1; i < all->count; i++) {
        const struct Probe *far = &all->probes[i], *near = far - 1;
        double hits = far->jumps + far->branches;
        double near_hits = near->jumps + near->branches;

        if (far->kind == PROBE_FAR && hits > 0 && near_hits > 0)
            costs[count++] = far->whole / hits - near->whole / near_hits;
    }
    return Median_of(costs, count) / 2;
}

// Only the sum of a call's two hooks is what they cost: one of them may come
// out below zero.
void HookCosts_conclude(const struct Probes *all, double cost[HOOK_KINDS])
{
    double enter = cost_of_calls(all, PROBE_CALL, true);
    double leave = cost_of_calls(all, PROBE_CALL, false) - enter;
    double resume = cost_of_calls(all, PROBE_RESUME, true);
    double yield = cost_of_calls(all, PROBE_RESUME, false) - resume;
    double jump = cost_of_loops(all, NULL);
    double branch = cost_of_loops(all, &jump);
    double far = cost_of_far(all);

    cost[HOOK_ENTER] = enter;
    cost[HOOK_RESUME] = resume;
    cost[HOOK_LEAVE] = leave;
    cost[HOOK_LEAVE_FAR] = leave + far;
    cost[HOOK_YIELD] = yield;
    cost[HOOK_YIELD_FAR] = yield + 2 * far;
    cost[HOOK_FINISH] = yield;
    cost[HOOK_FINISH_FAR] = yield + far;
    cost[HOOK_JUMP] = jump;
    cost[HOOK_JUMP_FAR] = jump + 2 * far;
    cost[HOOK_BRANCH] = branch;
    cost[HOOK_BRANCH_FAR] = branch + 2 * far;
    cost[HOOK_DARK_THROW] = DARK_THROW_PART * (enter + leave);
}
