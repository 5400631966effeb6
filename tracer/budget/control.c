// SPDX-License-Identifier: MIT
// What follows from time and budget; see control.h. The budget's own constants
// are in budget.c, those of intervals and pauses in policy.c.
#include "tracer/budget/control.h"

#include <math.h>

#define FIRST_S 0.02    // to the first look at what it costs
#define LEAST_S 1e-3    // to the next wake-up
#define BURST_S 0.5     // that a burst of new code lasts after the newest
#define ACTIVE_S 30.0   // that the most of `active` is remembered for
#define START_CODES 200 // functions that a program calls in its first seconds,
#define START_HITS 16.0 // ... and hits of each, at least
#define WISH_S 0.05     // between two slices that a viewer's wish brings on
#define IDLE_CORES 0.01 // the program uses less: nothing to hurry for
#define HZ_CHANGE 0.05  // of the sampler's rate: less is no reason to set it

// Is it still to come? No time is put further ahead than `most`: where one is,
// the clock has gone back.
static bool is_ahead(double time_s, double now_s, double most_s)
{
    return now_s < time_s && time_s - now_s <= most_s;
}

void Control_init(struct Control *control, uint64_t threshold)
{
    *control = (struct Control){
        .threshold = threshold,
        .hits = threshold,
        .rate = 1,
        .refill_rate = 1,
    };
}

double Control_begin(struct Control *control, double now_s)
{
    control->due_s = now_s + POLICY_SLICE_S;
    return FIRST_S;
}

static bool is_due(const struct Control *control, double now_s)
{
    return !is_ahead(control->due_s, now_s, POLICY_SLOWEST_S);
}

// Until when new code counts as a burst, which is then looked at often.
static double burst_until(const struct Control *control, double now_s,
                          uint32_t newest_code)
{
    uint32_t count = newest_code - control->newest_code;

    if (control->held && Policy_is_burst(count, now_s - control->looked_s))
        return now_s + BURST_S;
    return control->burst_until_s;
}

bool Control_needs_account(const struct Control *control, double now_s,
                           uint32_t newest_code)
{
    return is_due(control, now_s) ||
           is_ahead(burst_until(control, now_s, newest_code), now_s, BURST_S);
}

// As many functions may be called at once as were between two rankings: what
// was armed while the program paused is armed still.
static void note_active(struct Control *control, double now_s, double active)
{
    double s = fmin(fmax(now_s - control->active_s, 0), POLICY_SLOWEST_S);

    control->active_s = now_s;
    control->active = fmax(control->active * exp(-s / ACTIVE_S), active);
}

// Takes over what the budget says now.
static void read_budget(struct Control *control,
                        const struct ControlReading *reading)
{
    const struct BudgetHooks hooks = {reading->call_s, control->active,
                                      (double)control->threshold};
    struct Budget *budget = reading->budget;

    Budget_reserve(budget, control->spent);
    control->spent = 0;
    control->held = budget->share > 0;
    control->rate = control->held ? budget->rate : 1;
    control->refill_rate = control->held ? budget->refill_rate : 1;
    control->cores = Budget_cores(budget);
    control->overdrawn = Budget_is_overdrawn(budget);
    control->pressure = Budget_pressure(budget);
    control->available = Budget_available(budget, false);
    control->urgent = Budget_available(budget, true);
    control->room = Budget_room(budget);
    if (!control->held || !control->threshold || !(hooks.call > 0))
        return;
    control->hits = Budget_hits(budget, control->hits, &hooks);
    // Nobody knows yet how many there are: share the token bucket out among
    // START_CODES functions.
    if (!(control->active > 0))
        control->hits = (uint64_t)fmin(
            (double)control->hits,
            fmax(budget->level / (START_CODES * hooks.call), START_HITS));
}

// 0: leave it as it is.
static double choose_hz(struct Control *control, const struct Budget *budget)
{
    double hz = Budget_hz(budget);

    if (!control->held || fabs(hz - control->hz) <= HZ_CHANGE * control->hz)
        return 0;
    control->hz = hz;
    return hz;
}

struct ControlDecision Control_step(struct Control *control, double now_s,
                                    const struct ControlReading *reading)
{
    struct ControlDecision decision = {.full = is_due(control, now_s)};

    note_active(control, now_s, reading->active);
    if (reading->budget) {
        read_budget(control, reading);
        decision.sampler_hz = choose_hz(control, reading->budget);
    }
    if (decision.full)
        control->due_s = now_s + Policy_slice_pause(control->refill_rate);
    control->burst_until_s = burst_until(control, now_s, reading->newest_code);
    control->newest_code = reading->newest_code;
    control->looked_s = now_s;
    control->burst = is_ahead(control->burst_until_s, now_s, BURST_S);
    decision.rank = decision.full &&
                    !is_ahead(control->rank_due_s, now_s, POLICY_RANK_MOST_S);
    decision.first_hits =
        control->hits < control->threshold ? control->hits : control->threshold;
    decision.arm_new = !control->held || !control->overdrawn;
    // Where nothing goes dark none are counted.
    decision.hits = control->held && control->threshold ? control->hits : 0;
    decision.attend = decision.full || control->more || reading->asked;
    return decision;
}

void Control_ranked(struct Control *control, double now_s, double took_s)
{
    control->rank_due_s = now_s + Policy_rank_pause(took_s, control->rate);
}

void Control_spend(struct Control *control, double seconds)
{
    control->spent += seconds;
    control->available -= seconds;
    control->urgent -= seconds;
}

bool Control_may_hurry(const struct Control *control)
{
    return !control->overdrawn && control->available > 0 &&
           control->cores > IDLE_CORES;
}

double Control_pause(struct Control *control, double now_s, bool more)
{
    double s = control->due_s - now_s;

    control->more = more;
    s = fmin(fmax(s, LEAST_S), POLICY_SLOWEST_S);
    if (more || control->burst)
        s = fmin(s, Policy_burst_pause(control->rate));
    return s;
}

bool Control_may_wake(double *next_s, double now_s)
{
    if (is_ahead(*next_s, now_s, WISH_S))
        return false;
    *next_s = now_s + WISH_S;
    return true;
}
