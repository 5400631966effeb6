// SPDX-License-Identifier: MIT
// Implements the token bucket, and the decisions that depend on its level.
// docs/architecture.md explains the constants in the section "The budget".
#include "tracer/budget/budget.h"

#include <math.h>
#include <string.h>

#define LATELY 2.0 // Seconds over which `rate` is measured.
#define NOW 0.5    // Seconds over which `refill_rate` is measured.
// The program counts as paused if the refill rate is below this fraction of the
// window's rate.
#define PAUSES 0.5
// The program counts as idle if the refill rate is below this multiple of the
// least rate.
#define FLOOR 2.0
// If more than this fraction of the allowance is spent, the whole allowance
// counts as spent.
#define NEARLY 0.9
// Over an interval shorter than this number of seconds, the rate is unknown.
#define LEAST_SPAN 0.1
#define AIM 0.9   // Fraction of the allowance that flows into the bucket.
#define BURST 2.0 // Seconds of allowance in a full bucket.
// A debt of more than this number of seconds of allowance is forgiven.
#define DEBT 4.0
#define SAMPLER 0.4 // The sampler's fraction of the allowance.
// If the bucket has at least this number of seconds of allowance, the sampler
// gets all of SAMPLER.
#define SAMPLER_FULL 1.0
// If the bucket is empty, the sampler gets this fraction of SAMPLER.
#define SAMPLER_LEAST 0.5
#define SURPLUS 0.25 // The sampler's extra fraction of the allowance.
// The sampler gets an extra fraction if the bucket has more than this number of
// seconds of allowance.
#define SURPLUS_FROM 1.5
#define HOOKS 0.5 // Largest fraction of the allowance for hooks and arming.
// Smallest fraction of the allowance for hooks and arming.
#define HOOKS_LEAST 0.2
#define LEAST_HZ 10.0
#define MOST_HZ 250.0 // Many kernels have only 250 timer ticks a second.
// Seconds of CPU time per sample, assumed until a sample was measured.
#define SAMPLE 10e-6
#define LEAST_SAMPLE 2e-6
#define MOST_SAMPLE 1e-3

static double clamp(double value, double least, double most)
{
    return value < least ? least : value > most ? most : value;
}

static double ours(const struct BudgetReading *reading)
{
    return reading->hooks + reading->rearm + reading->threads;
}

// Returns the CPU time that the program used without Ocular. Two clocks cannot
// be read at the same moment, so the difference can be negative, and then
// becomes 0.
static double program(const struct BudgetReading *from,
                      const struct BudgetReading *to)
{
    return fmax(to->cpu - from->cpu - (ours(to) - ours(from)), 0);
}

// Returns the smallest allowance in seconds per second, which is that of a
// program that uses little CPU time.
static double least_rate(const struct Budget *budget)
{
    return budget->share > 0 ? BUDGET_CORES * budget->share : 0;
}

// Returns the newest of the kept readings that are at least `s` seconds old. If
// no kept reading is that old, returns the oldest kept reading.
static const struct BudgetReading *ago(const struct Budget *budget, double s)
{
    unsigned room = BUDGET_KEPT, at = budget->next, back;

    for (back = 1; back <= budget->count; back++) {
        at = (budget->next + room - back) % room;
        if (budget->last.wall - budget->kept[at].wall >= s)
            break;
    }
    return &budget->kept[at];
}

static void keep(struct Budget *budget, const struct BudgetReading *reading)
{
    budget->kept[budget->next] = *reading;
    budget->next = (budget->next + 1) % BUDGET_KEPT;
    if (budget->count < BUDGET_KEPT)
        budget->count++;
}

void Budget_init(struct Budget *budget, double share,
                 const struct BudgetReading *reading)
{
    memset(budget, 0, sizeof *budget);
    budget->origin = budget->last = *reading;
    budget->sample = SAMPLE;
    keep(budget, reading);
    Budget_set(budget, share);
    budget->level = BURST * budget->rate;
}

void Budget_set(struct Budget *budget, double share)
{
    // The level of the bucket is scaled to the new budget. The bucket therefore
    // stays equally full, and paying back a debt takes the same time as before.
    double scale = budget->share > 0 && share > 0 ? share / budget->share : 1;

    if (budget->share == share)
        return;
    budget->share = share;
    if (budget->rate > 0) {
        budget->level *= scale;
        budget->rate = fmax(budget->rate * scale, least_rate(budget));
    } else {
        // At first the allowance is that of a program that uses one core.
        budget->rate = share;
    }
    budget->refill_rate = budget->rate;
}

// --- Readings --------------------------------------------------------------

// Returns the income of the bucket, which is the budget's fraction of the
// program's CPU time. If the mean income over the window is lower than the
// least rate, the income is raised to the least rate.
static double earn(struct Budget *budget, double wall, double used)
{
    double earned = budget->share * used, least = least_rate(budget);

    budget->unused += least * wall - earned;
    budget->unused = fmax(budget->unused, -least * BUDGET_WINDOW);
    if (budget->unused > 0) {
        earned += budget->unused;
        budget->unused = 0;
    }
    return earned;
}

// Returns the allowance in seconds per second over the last `s` seconds.
static double rate_over(const struct Budget *budget, double s)
{
    const struct BudgetReading *then = ago(budget, s);
    double wall = budget->last.wall - then->wall;

    if (wall < LEAST_SPAN)
        return budget->rate;
    return fmax(budget->share * program(then, &budget->last) / wall,
                least_rate(budget));
}

static void measure_sample(struct Budget *budget)
{
    const struct BudgetReading *then = ago(budget, LATELY);
    double count = (double)(budget->last.samples - then->samples);

    if (count >= 8)
        budget->sample = clamp((budget->last.sampling - then->sampling) / count,
                               LEAST_SAMPLE, MOST_SAMPLE);
}

void Budget_read(struct Budget *budget, const struct BudgetReading *reading)
{
    struct BudgetReading before = budget->last;
    double wall = reading->wall - before.wall;

    if (!(wall > 0))
        return;
    budget->last = *reading;
    measure_sample(budget);
    if (budget->share > 0) {
        double room;

        budget->rate = rate_over(budget, LATELY);
        budget->refill_rate = fmin(budget->rate, rate_over(budget, NOW));
        // The size of the bucket does not shrink while the program rests
        // between two bursts of work.
        room = BURST * fmax(budget->rate, rate_over(budget, BUDGET_WINDOW));
        budget->level += AIM * earn(budget, wall, program(&before, reading)) -
                         (ours(reading) - ours(&before));
        budget->level = clamp(budget->level, -DEBT / BURST * room, room);
    }
    if (reading->wall - ago(budget, 0)->wall > BUDGET_SLICE)
        keep(budget, reading);
}

// --- Measured overhead -----------------------------------------------------

struct BudgetShares Budget_window(const struct Budget *budget)
{
    const struct BudgetReading *from = ago(budget, BUDGET_WINDOW);
    const struct BudgetReading *to = &budget->last;
    double used = program(from, to), wall = to->wall - from->wall;
    struct BudgetShares shares = {NAN, NAN, NAN, NAN, budget->share, NAN, NAN};

    if (wall > 0)
        shares.cores = fmax(ours(to) - ours(from), 0) / wall;
    if (wall > 0 && budget->share > 0)
        shares.cores_allowed =
            fmax(budget->share * used / wall, least_rate(budget));
    if (!(used > 0))
        return shares;
    // A later reading can correct the hook time of an earlier reading
    // downwards.
    shares.hooks = fmax(to->hooks - from->hooks, 0) / used;
    shares.rearm = (to->rearm - from->rearm) / used;
    shares.threads = (to->threads - from->threads) / used;
    shares.measured = shares.hooks + shares.rearm + shares.threads;
    if (budget->share > 0)
        shares.allowed = fmax(budget->share, least_rate(budget) * wall / used);
    return shares;
}

double Budget_mean(const struct Budget *budget)
{
    double used = program(&budget->origin, &budget->last);

    return used > 0 ? (ours(&budget->last) - ours(&budget->origin)) / used
                    : NAN;
}

double Budget_cores(const struct Budget *budget)
{
    const struct BudgetReading *then = ago(budget, LATELY);
    double wall = budget->last.wall - then->wall;

    return wall > 0 ? program(then, &budget->last) / wall : 0;
}

// --- Allowances for the kinds of work --------------------------------------

bool Budget_is_overdrawn(const struct Budget *budget)
{
    return budget->share > 0 && budget->level < 0;
}

// Returns true if the program uses less CPU time than before. While the program
// pauses, the remaining allowance should be kept.
static bool is_pausing(const struct Budget *budget)
{
    return budget->refill_rate < PAUSES * rate_over(budget, BUDGET_WINDOW);
}

bool Budget_is_throttled(const struct Budget *budget)
{
    struct BudgetShares window = Budget_window(budget);

    return budget->refill_rate <= FLOOR * least_rate(budget) &&
           is_pausing(budget) && window.measured > NEARLY * window.allowed;
}

// Returns the sampler's extra fraction of the allowance. The sampler's extra
// allowance is income that a full bucket could not take. The bucket stays
// nearly full for sudden costs and for a pause of the program. The extra
// fraction is 0 for a program that uses almost no CPU time, because a program
// without work should not be woken up more often.
static double surplus(const struct Budget *budget)
{
    double above = budget->level / budget->rate - SURPLUS_FROM;

    if (budget->refill_rate <= FLOOR * least_rate(budget) || is_pausing(budget))
        return 0;
    return SURPLUS * clamp(above / (BURST - SURPLUS_FROM), 0, 1);
}

double Budget_hz(const struct Budget *budget)
{
    double fill = budget->level / (SAMPLER_FULL * budget->rate);
    double part = SAMPLER * clamp(fill, SAMPLER_LEAST, 1) + surplus(budget);

    return clamp(part * budget->share / budget->sample, LEAST_HZ, MOST_HZ);
}

double Budget_hooks(const struct Budget *budget)
{
    const struct BudgetReading *then = ago(budget, BUDGET_WINDOW);
    double wall = budget->last.wall - then->wall;
    double others = budget->last.threads - then->threads -
                    (budget->last.sampling - then->sampling);

    if (wall < LEAST_SPAN)
        return HOOKS * budget->rate;
    return clamp((AIM - SAMPLER) * budget->rate - others / wall,
                 HOOKS_LEAST * budget->rate, HOOKS * budget->rate);
}
