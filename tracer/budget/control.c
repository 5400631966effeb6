// SPDX-License-Identifier: MIT
// The constants of the budget are in budget.c.
#include "tracer/budget/control.h"

#include <math.h>

#define FIRST_S 0.02 // Seconds before the first reading of the overhead.
#define LEAST_S 1e-3 // The shortest pause before a wake-up in seconds.
// The shortest time between two full holds of the GIL in seconds.
#define HOLD_S 0.2
// The longest time between two full holds of the GIL in seconds.
#define SLOWEST_S 2.0
// Seconds of CPU time that a wake-up and taking the GIL cost.
#define HOLD_COST_S 150e-6
// Seconds of CPU time that a wake-up and taking the GIL cost in a light
// program. The cost is higher in a light program because of cold caches.
#define LIGHT_COST_S 300e-6
#define LIGHT_CORES 0.2  // A light program uses fewer than LIGHT_CORES cores.
#define HOLD_PART 0.08   // Fraction of the allowance for holds of the GIL.
#define RANK_S 1.0       // The shortest time between two rankings in seconds.
#define RANK_PART 0.05   // Fraction of the allowance for rankings.
#define RANK_MOST_S 10.0 // The longest time between two rankings in seconds.
// Least number of new code objects in a burst of new code.
#define BURST_CODES 8
// Least number of new code objects per second in a burst of new code.
#define BURST_CODES_A_S 40.0
// Seconds that a burst of new code lasts after its newest code object.
#define BURST_S 0.5
// Seconds until the next wake-up in a burst of new code.
#define BURST_PAUSE_S 0.02
// Fraction of the allowance for holds of the GIL in a burst of new code.
#define BURST_PART 0.25
// Least seconds between two holds of the GIL for viewers' requests.
#define REQUEST_S 0.05
#define IDLE_CORES 0.01 // An idle program uses fewer than IDLE_CORES cores.
// A smaller relative change of the sampler's rate is ignored.
#define HZ_CHANGE 0.05

static bool is_ahead(double time_s, double now_s, double most_s)
{
    return now_s < time_s && time_s - now_s <= most_s;
}

void Control_init(struct Control *control)
{
    *control = (struct Control){.rate = 1, .refill_rate = 1};
}

double Control_begin(struct Control *control, double now_s)
{
    // A program may fork more often than a hold is due.
    if (control->due_s == 0)
        control->due_s = now_s + HOLD_S;
    return fmin(FIRST_S, fmax(control->due_s - now_s, LEAST_S));
}

static bool is_due(const struct Control *control, double now_s)
{
    return !is_ahead(control->due_s, now_s, SLOWEST_S);
}

// Returns the time until which a burst of new code lasts. During a burst of new
// code, the governor handles new code often.
static double burst_until(const struct Control *control, double now_s,
                          uint32_t newest_code)
{
    uint32_t count = newest_code - control->newest_code;
    double s = now_s - control->looked_s;

    if (control->held && count >= BURST_CODES && count >= s * BURST_CODES_A_S)
        return now_s + BURST_S;
    return control->burst_until_s;
}

bool Control_needs_account(const struct Control *control, double now_s,
                           uint32_t newest_code)
{
    return is_due(control, now_s) ||
           is_ahead(burst_until(control, now_s, newest_code), now_s, BURST_S);
}

static void read_budget(struct Control *control, const struct Budget *budget)
{
    control->held = budget->share > 0;
    control->rate = control->held ? budget->rate : 1;
    control->refill_rate = control->held ? budget->refill_rate : 1;
    control->hooks_rate = control->held ? Budget_hooks(budget) : 1;
    control->cores = Budget_cores(budget);
    control->overdrawn = Budget_is_overdrawn(budget);
    control->hooks = budget->last.hooks;
    control->spent = budget->last.hooks + budget->last.rearm;
}

// Returns the new rate of the sampler, or 0 if the rate does not change.
static double choose_hz(struct Control *control, const struct Budget *budget)
{
    double hz = Budget_hz(budget);

    if (!control->held || fabs(hz - control->hz) <= HZ_CHANGE * control->hz)
        return 0;
    control->hz = hz;
    return hz;
}

// Returns the seconds until the next full hold of the GIL, so that holds take
// no more than their fraction of the allowance.
static double hold_pause(const struct Control *control)
{
    double cost_s = control->held && control->cores < LIGHT_CORES ? LIGHT_COST_S
                                                                  : HOLD_COST_S;

    return fmin(fmax(cost_s / (HOLD_PART * control->refill_rate), HOLD_S),
                SLOWEST_S);
}

struct ControlDecision Control_step(struct Control *control, double now_s,
                                    const struct ControlReading *reading)
{
    struct ControlDecision decision = {.full = is_due(control, now_s)};

    if (reading->budget) {
        read_budget(control, reading->budget);
        decision.sampler_hz = choose_hz(control, reading->budget);
    }
    if (decision.full)
        control->due_s = now_s + hold_pause(control);
    control->burst_until_s = burst_until(control, now_s, reading->newest_code);
    control->newest_code = reading->newest_code;
    control->looked_s = now_s;
    control->burst = is_ahead(control->burst_until_s, now_s, BURST_S);
    decision.rank =
        decision.full && !is_ahead(control->rank_due_s, now_s, RANK_MOST_S);
    decision.arm_new = !control->held || !control->overdrawn;
    decision.attend = decision.full || control->more || reading->asked;
    return decision;
}

// `took_s` is CPU time. If `took_s` were wall-clock time, a preempted ranking
// would delay the next ranking.
void Control_ranked(struct Control *control, double now_s, double took_s)
{
    control->rank_due_s =
        now_s +
        fmin(RANK_S + took_s / (RANK_PART * control->rate), RANK_MOST_S);
}

bool Control_may_hurry(const struct Control *control)
{
    return !control->overdrawn && control->cores > IDLE_CORES;
}

double Control_pause(struct Control *control, double now_s, bool more)
{
    double s = control->due_s - now_s;

    control->more = more;
    s = fmin(fmax(s, LEAST_S), SLOWEST_S);
    if (more || control->burst)
        s = fmin(
            s, fmax(HOLD_COST_S / (BURST_PART * control->rate), BURST_PAUSE_S));
    return s;
}

bool Control_may_wake(double *next_s, double now_s)
{
    if (is_ahead(*next_s, now_s, REQUEST_S))
        return false;
    *next_s = now_s + REQUEST_S;
    return true;
}
