// SPDX-License-Identifier: MIT
// Intervals, hits and the order. docs/architecture.md, "The budget", explains
// the constants.
#include "tracer/budget/policy.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define LONGEST 12.0       // s, the interval of what takes no time at all
#define SELDOM_LONGEST 2.0 // s, of what is going to stay armed
#define SHORTEST 1.0       // s
#define HALF_SHARE 0.01    // of a core: the interval is halved
#define DEAREST 0.02       // of the allowance for one function
#define DEAR_LONGEST 20.0  // s, however dear
#define MISSES 4           // doublings of the interval where nothing is gained
#define LEAST_HITS 16      // the first eight warm up
#define USUAL_HITS 32
#define MOST_HITS 64
#define LATE 1.25 // intervals, after which there are fewer
#define LATEST 2.0
#define FEW_TIMED 200 // calls
#define CALLEE_HITS 64
#define ALL_HITS 64    // or the threshold where that is less, whatever is there
#define CALLEE_STEPS 4 // times four where they were too few
// What re-arming is taken to cost, for predictions only: what it has cost is in
// the governor's CPU time and in the hooks'.
#define REARM_S 1e-6
#define REARM_BYTE_S 5e-9
#define LEAVING_S 60e-9
#define SLICE_COST_S 150e-6 // of CPU time, waking up and waiting for the lock
#define SLICE_PART 0.08     // of the allowance
#define RANK_S 1.0          // between two rankings of the functions, or more:
#define RANK_PART 0.05      // of the allowance
#define RUSH_CODES 8        // since the last look, and
#define RUSH_PER_S 40.0     // at that rate
#define RUSH_S 0.02         // to the next wake-up, where more is to be done:
#define RUSH_PART 0.25      // of the allowance

static double max(double a, double b)
{
    return a > b ? a : b;
}

static double min(double a, double b)
{
    return a < b ? a : b;
}

void RearmWindow_begin(struct RearmWindow *window, uint64_t calls)
{
    window->calls = calls;
}

void RearmWindow_end(struct RearmWindow *window, uint64_t calls)
{
    // Where its callees may have gone dark too soon, sooner again and with
    // more; only what helps with nothing is to become rare.
    if (calls > window->calls)
        window->misses = 0;
    else if (window->reach < CALLEE_STEPS)
        window->reach++;
    else if (window->misses < MISSES)
        window->misses++;
}

double Policy_interval(const struct PolicyFunction *function, double seconds,
                       double rate)
{
    double interval = LONGEST * HALF_SHARE / (function->share + HALF_SHARE);
    double dear = seconds / (DEAREST * rate);

    // However dear, but for one with a thousand callees to arm with it, which
    // would take from all others what they need for a minute.
    if (!function->callees)
        dear = min(dear, DEAR_LONGEST);
    if (function->seldom)
        interval = min(interval, SELDOM_LONGEST);
    interval = max(interval, SHORTEST);
    interval = max(interval, dear);
    return interval * exp2(min(function->misses, MISSES));
}

uint32_t Policy_hits(const struct PolicyFunction *function, double pressure)
{
    double hits = function->timed < FEW_TIMED ? MOST_HITS : USUAL_HITS;

    return (uint32_t)max(hits * (1 - pressure), LEAST_HITS);
}

uint32_t Policy_late_hits(uint32_t hits, double urgency)
{
    double late = min(max((urgency - LATE) / (LATEST - LATE), 0), 1);

    if (hits <= LEAST_HITS)
        return hits;
    return hits - (uint32_t)(late * (hits - LEAST_HITS));
}

uint32_t Policy_callee_hits(unsigned reach)
{
    return CALLEE_HITS << 2 * reach;
}

uint64_t Policy_all_hits(const struct PolicyCosts *costs, size_t count,
                         double means, uint64_t threshold)
{
    double hits = means / (costs->call * (double)(count + 1));

    if (hits >= (double)threshold || threshold <= ALL_HITS)
        return threshold;
    return hits > ALL_HITS ? (uint64_t)hits : ALL_HITS;
}

double Policy_call_cost(const struct PolicyCosts *costs,
                        const struct PolicyFunction *function)
{
    return costs->call + costs->site * function->sites;
}

double Policy_cost(const struct PolicyCosts *costs,
                   const struct PolicyFunction *function, uint32_t hits)
{
    double call = Policy_call_cost(costs, function);

    // Entering, leaving, and each site are taken out once.
    return REARM_S + REARM_BYTE_S * function->bytes + call * hits +
           LEAVING_S * (2 + function->sites) +
           function->callees *
               (REARM_S + 2 * LEAVING_S +
                costs->call * Policy_callee_hits(function->reach));
}

// --- How often -------------------------------------------------------------

double Policy_slice_pause(double rate)
{
    double s = SLICE_COST_S / (SLICE_PART * rate);

    return min(max(s, POLICY_SLICE_S), POLICY_SLOWEST_S);
}

double Policy_rank_pause(double took, double rate)
{
    return min(RANK_S + took / (RANK_PART * rate), POLICY_RANK_MOST_S);
}

bool Policy_is_burst(uint32_t codes, double seconds)
{
    return codes >= RUSH_CODES && codes >= seconds * RUSH_PER_S;
}

double Policy_burst_pause(double rate)
{
    return max(SLICE_COST_S / (RUSH_PART * rate), RUSH_S);
}

bool Policy_is_ahead(uint64_t time, uint64_t now, uint64_t most)
{
    return now < time && time - now <= most;
}

// --- The plan --------------------------------------------------------------

void Plan_release(struct Plan *plan)
{
    free(plan->items);
    *plan = (struct Plan){0};
}

void Plan_clear(struct Plan *plan)
{
    plan->count = plan->next = 0;
}

int Plan_add(struct Plan *plan, const struct PlanItem *item)
{
    if (plan->count == plan->room) {
        size_t room = plan->room ? 2 * plan->room : 64;
        struct PlanItem *items =
            realloc(plan->items, room * sizeof *plan->items);

        if (!items)
            return -ENOMEM;
        plan->items = items;
        plan->room = room;
    }
    plan->items[plan->count++] = *item;
    return 0;
}

static int more_urgent_first(const void *left, const void *right)
{
    const struct PlanItem *a = left, *b = right;

    if (a->urgency != b->urgency)
        return a->urgency < b->urgency ? 1 : -1;
    return (a->id > b->id) - (a->id < b->id);
}

void Plan_sort(struct Plan *plan)
{
    if (plan->count)
        qsort(plan->items, plan->count, sizeof *plan->items, more_urgent_first);
}

bool Plan_is_behind(const struct Plan *plan)
{
    return plan->next < plan->count;
}

const struct PlanItem *Plan_pop(struct Plan *plan)
{
    return plan->next < plan->count ? &plan->items[plan->next++] : NULL;
}
