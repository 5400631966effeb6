// SPDX-License-Identifier: MIT
#include "tui/model/row.h"
#include "ipc/own_file.h"

#include <math.h>

// An estimate is shown only if its standard error is at most the part SURE of
// the estimate.
#define SURE 0.125
// Largest relative error of an estimate from slices that is shown.
#define SURE_SLICED 0.5
// An estimate from slices with a larger error is shown with one digit.
#define ROUGH_SLICED 0.25
// A smaller share counts as idle. When a function has stopped, its share soon
// falls below this limit.
#define IDLE_SHARE 0.0005
// All calls count as timed if the timed cycles are at least the part
// LEAST_TIMED of the expected cycles.
#define LEAST_TIMED 0.5
// If the relative error of a number of calls is larger, the number is unknown.
#define UNKNOWN_CALLS 0.5
#define WAIT_SAMPLES_PER_S 2.0 // The least rate of samples of waiting threads.

void Row_init(struct Row *row, uint64_t id)
{
    *row = (struct Row){.id = id,
                        .part_share = NAN,
                        .window = Window_unknown(),
                        .workers = {{.times = NAN}, {.times = NAN}},
                        .cpu_s = NAN,
                        .cpu_samples = NAN};
    for (int i = 0; i < TREND_LENGTH; i++)
        row->trend[i] = NAN;
    for (int i = 0; i < COLUMN_COUNT; i++)
        row->mark[i] = NAN;
}

void Trend_push(float trend[TREND_LENGTH], double share)
{
    memmove(trend, trend + 1, (TREND_LENGTH - 1) * sizeof *trend);
    trend[TREND_LENGTH - 1] = (float)share;
}

void Trend_squeeze(float *out, int parts, const float *values, int count)
{
    for (int i = 0; i < parts; i++) {
        int from = i * count / parts, to = (i + 1) * count / parts;
        out[i] = 0;
        for (int k = from; k < to; k++)
            out[i] += values[k] / (float)(to - from);
    }
}

void Row_take(struct Row *row, const struct Function *now, struct Window window,
              const struct Standouts *standouts)
{
    row->now = now;
    row->window = window;
    if (standouts && row->id > 0 && row->id <= standouts->count)
        row->workers = standouts->items[row->id - 1];
}

double Row_u64(uint64_t value)
{
    return value == NULL_U64 ? NAN : (double)value;
}

double Row_sum(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a + b;
}

static double or_zero(double value)
{
    return isfinite(value) ? value : 0;
}

void Row_reset(struct Row *row)
{
    const struct Function *now = row->now;
    if (!now)
        return;
    row->base = (struct RowBase){
        .calls = or_zero(Row_u64(now->calls)),
        .estimated = or_zero(now->calls_estimated),
        .self = or_zero(Row_u64(now->self_cycles)),
        .total = or_zero(Row_u64(now->total_cycles)),
        .waited = or_zero(Row_u64(now->waited_cycles)),
        .samples = or_zero(Row_u64(now->samples)),
        .raised = or_zero(Row_u64(now->raised)),
    };
}

double Row_share(const struct Row *row)
{
    return row->part ? row->part_share : row->now->share;
}

double Row_calls(const struct Row *row)
{
    return Row_u64(row->now->calls) - row->base.calls;
}

// The result is at least the number of counted calls, because the estimate at
// the reset may have been too high.
double Row_estimated(const struct Row *row)
{
    double since = row->now->calls_estimated - row->base.estimated;
    return isnan(since) ? since : fmax(since, Row_calls(row));
}

bool Row_is_sliced(const struct Row *row)
{
    return isfinite(row->now->calls_per_s_error);
}

bool Row_is_sure(const struct Row *row)
{
    double sure = Row_is_sliced(row) ? SURE_SLICED : SURE;

    // calls_error is relative to the estimate since the start of tracing.
    return !(row->now->calls_error * row->now->calls_estimated >
             sure * Row_estimated(row));
}

bool Row_is_rough(const struct Row *row)
{
    // calls_error is relative to the estimate since the start of tracing.
    return Row_is_sliced(row) &&
           row->now->calls_error * row->now->calls_estimated >
               ROUGH_SLICED * Row_estimated(row);
}

bool Row_calls_exact(const struct Row *row)
{
    return row->now->calls_exact == 1;
}

static double likely_calls(const struct Row *row)
{
    double estimated = Row_estimated(row);
    return Row_calls_exact(row) || isnan(estimated) ? Row_calls(row)
                                                    : estimated;
}

double Row_best_calls(const struct Row *row)
{
    return Row_is_sure(row) ? likely_calls(row) : Row_calls(row);
}

double Row_self(const struct Row *row)
{
    return Row_u64(row->now->self_cycles) - row->base.self;
}

// Returns true if some calls were not timed. A call is not timed if its
// function is dark (has no hooks). A call is also not timed while one of its
// callees is dark. If some calls were not timed, the timed cycles are far less
// than the number of calls times their mean cost. If all calls were timed,
// these two numbers differ only because the mean is that of the newest calls.
bool Row_spent_estimated(const struct Row *row)
{
    double expected = likely_calls(row) * row->now->avg_cycles;

    if (!Row_calls_exact(row))
        return isfinite(Row_estimated(row) * row->now->avg_cycles);
    return isfinite(expected) && !(Row_self(row) >= LEAST_TIMED * expected);
}

double Row_spent(const struct Row *row)
{
    double timed = Row_self(row);

    return Row_spent_estimated(row)
               ? fmax(or_zero(timed), likely_calls(row) * row->now->avg_cycles)
               : timed;
}

double Row_total(const struct Row *row)
{
    double timed = Row_u64(row->now->total_cycles) - row->base.total;

    // The total contains at least the function's own time, also that in which
    // the function was dark.
    return !Row_calls_exact(row) && Row_spent_estimated(row)
               ? fmax(or_zero(timed), Row_spent(row))
               : timed;
}

bool Row_may_run(const struct Function *function)
{
    return isnan(function->share) || function->share >= RUNS_SHARE;
}

// Returns the largest share that the calls of a function can still have in the
// window, if the function was on no stack since its newest hit. A dark function
// (without hooks) has no hits while it runs.
static double largest_remainder(const struct Row *row)
{
    double window_s = row->window.s;
    if (row->now->state == STATE_DARK)
        return IDLE_SHARE;
    // Weights in the window decay exponentially. The window's length is twice
    // the time constant of the decay.
    return fmax(IDLE_SHARE, exp(-2 * row->now->age_s / window_s));
}

// A main loop is called only once, but is never idle, because it is always on
// the stack.
bool Row_is_idle(const struct Row *row)
{
    const struct Function *now = row->now;
    if (now->age_s <= IDLE_S || Row_u64(now->in_flight) > 0)
        return false;
    // Without a sampler, only functions with hooks count as idle.
    if (isnan(now->share))
        return now->state == STATE_ARMED;
    if (now->state == STATE_DARK &&
        Window_basis(&row->window, now->share) != BASIS_NONE)
        return false;
    // If a function has its hooks and no call in flight, it is on no stack.
    return (now->state == STATE_ARMED && now->in_flight == 0) ||
           !(now->total_share >= largest_remainder(row));
}

// The CPU time is that of the whole run, so it is divided by all calls since
// the start of tracing, even after a reset.
double Row_cpu(const struct Row *row)
{
    const struct Function *now = row->now;
    double calls = now->calls_estimated;
    if (Row_calls_exact(row))
        calls = Row_u64(now->calls);
    else if (now->calls_error > UNKNOWN_CALLS)
        return NAN;
    return calls > 0 ? row->cpu_s / calls : NAN;
}

// Returns true if the function's calls in flight look like main loops: code
// below them runs or waits for the next event, or the only call has had hits
// long after its beginning. A call that mainly runs its own code is no main
// loop.
static bool is_main_loop(const struct Row *row)
{
    const struct Function *now = row->now;
    const double *waits =
        now->total_part_count ? now->total_parts->waits : NULL;
    double idle = waits ? waits[WAITS_IDLE] : 0;
    double runs = waits ? now->total_share : 0;
    for (int kind = 0; waits && kind < WAIT_KINDS; kind++)
        runs -= waits[kind];
    return (now->in_flight == 1 && now->age_s < now->oldest_s / 2) ||
           (idle + runs >= RUNS_SHARE * Row_u64(now->in_flight) &&
            !(now->cpu_share > runs / 2));
}

bool Row_is_late(const struct Row *row)
{
    const struct Function *now = row->now;
    // If a stack has shown a call, its age is only a lower bound.
    return now->in_flight_is_least != 1 &&
           Row_u64(now->calls) >= Row_u64(now->in_flight) &&
           row->uptime_s - now->oldest_s > HANG_LATE_S &&
           OwnFile_is(now->file) && !is_main_loop(row);
}

bool Row_hangs(const struct Row *row)
{
    const struct Function *now = row->now;
    double in_flight = Row_u64(now->in_flight);
    double usual =
        isnan(now->wall_p99_s) ? now->wall_max_s : HANG_TIMES * now->wall_p99_s;
    // Calls that no hook has seen begin are not among the counted calls.
    double ended =
        Row_u64(now->calls) - (now->in_flight_is_least == 1 ? 0 : in_flight);
    bool late = Row_is_late(row);
    if (late && isnan(usual))
        usual = HANG_FIRST_S;
    return in_flight > 0 && (late || ended >= HANG_ENDED) &&
           now->oldest_s > HANG_S && now->oldest_s > usual;
}

double Row_recent_cost(const struct Row *row)
{
    return or_zero(row->now->calls_per_s * row->now->avg_cycles);
}

// A rate of calls is estimated both from samples of running threads and from
// samples of waiting threads.
double Row_rate_samples(const struct Row *row)
{
    double waiting = WAIT_SAMPLES_PER_S * row->window.s * row->now->wait_share;
    return Window_samples(&row->window, row->now->cpu_share) + or_zero(waiting);
}

bool Row_is_c(const struct Row *row)
{
    return OwnFile_is_c(row->now->file);
}

bool Row_is_old(const struct Row *row)
{
    uint64_t state = row->now->state;
    return (state == STATE_PARTIAL || state == STATE_DARK) &&
           row->now->age_s > OLD_S;
}

bool Row_is_stale(const struct Row *row)
{
    return Row_is_old(row) && row->now->age_s > STALE_S &&
           Row_may_run(row->now);
}
