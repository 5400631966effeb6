// SPDX-License-Identifier: MIT
#include "tracer/session/c_rates.h"
#include "tracer/base/rcu.h"
#include "tracer/code/means.h"
#include "tracer/code/spans.h"
#include "tracer/session/exception_rows.h"

#include <math.h>

// If fewer entries of the calling function were counted than this, rates follow
// from calls per time instead of calls per entry.
#define ENTRIES_ENOUGH 4
// The time that hooks take in a call is known to some 100 cycles. If a call
// takes fewer cycles than SURE_CYCLES, its mean duration is therefore computed
// from samples.
#define SURE_CYCLES 1000
// Least number of samples for a mean that is computed from samples.
#define SAMPLES_ENOUGH 20
// Relative error of the time that hooks take.
#define UNSURE 0.125
// In a window CPython itself takes up to this number of seconds for the events
// of a call of a C function. This time is not subtracted.
#define EVENTS_S 1.1e-7
// The inverse of a length with a larger relative error is not known.
#define MOST_ERROR 0.9
#define SAMPLE_S 5e-3 // CPU time per sample.
// A function with a smaller share does not run.
#define IDLE_SHARE 0.0005
// Seconds within which a function that runs has a sample.
#define SAMPLED_S 10.0

// The counts of a function's calls of C functions are multiplied by these
// factors.
struct Factor {
    double rate;   // Factor for calls per second.
    double error;  // Relative standard error of `rate`.
    double unseen; // Factor for the standard error if `rate` is 0.
    double calls;  // Factor for calls since tracing began.
    double raised; // Factor for all exceptions.
    // The function's own calls per second, and the number of its own calls.
    double own_rate, own_calls;
    // The calls per second, at most, of an instruction of which no window has
    // counted a call, or NaN if unknown.
    double most;
};

// Returns the ticks of a call that are its hooks' and not its own.
static double hook_ticks(const struct Moment *at)
{
    return fabs((double)(at->cost[HOOK_ENTER] + at->cost[HOOK_LEAVE]));
}

static double samples_of(const struct Code *code)
{
    return (double)Counter_get(&code->share.samples) +
           Code_called_samples(code);
}

// Returns the relative error of a hot function's rate, which is its sampled
// time divided by its mean.
static double hot_error(const struct Code *code, const struct Moment *at)
{
    double spread = code->row.quantiles_calls ? code->row.spread : 1;
    double calls = Code_dark_calls(code, at->hz);
    double mean = Code_calls_error(code, spread, at->hz) / calls;
    double hooks = UNSURE * hook_ticks(at) / Code_mean_cycles(code);

    return sum_error(
        sum_error(isfinite(mean) ? mean : 0, isfinite(hooks) ? hooks : 0),
        1 / sqrt(samples_of(code) + 1));
}

// Returns the relative error of the function's own rate of calls.
static double own_error(const struct Code *code, const struct Moment *at)
{
    double rate;

    if (!code->row.rate_estimated)
        return 0;
    if (Code_arming(code) == ARMED_HOT)
        return hot_error(code, at);
    rate = Spans_rate(code, at->ticks, at->hz);
    return rate > 0 ? Spans_rate_error(code, at->ticks, at->hz) / rate : 0;
}

// Returns the seconds since the newest hit of the function.
static double seen_s(const struct Code *code, const struct Moment *at)
{
    uint64_t seen = Counter_get(&code->hot.last_seen);
    uint64_t dark =
        atomic_load_explicit(&code->cold.dark_since, memory_order_relaxed);

    return (double)(int64_t)(at->ticks - (dark > seen ? dark : seen)) / at->hz;
}

// Returns false if samples show that no call of the function runs any more.
static bool runs(const struct Code *code, const struct Moment *at)
{
    const struct ShareValue *value = &Share_parts(&code->share)->cumulative;

    if (!at->sees)
        return true;
    return Counter_get(&value->total_ns)
               ? ShareValue_window(value, at->sampled) > IDLE_SHARE
               : seen_s(code, at) < SAMPLED_S;
}

// Returns the relative error of the number of calls divided by their time. The
// time is probably too long, and calls that come in bursts make the lengths of
// windows differ.
static double time_error(const struct CCalls *calls, double hz)
{
    double count = 0, error;

    for (int i = 0; i < C_CALLS_BUCKETS; i++)
        for (struct CPair *pair = calls->pairs[i]; pair; pair = pair->next)
            count += pair->calls;
    error = sum_error(sqrt(calls->errors),
                      fmax(UNSURE * calls->hooks, EVENTS_S * hz * count)) /
            calls->ticks;
    return error / (1 - fmin(error, MOST_ERROR));
}

// Computes the factors for a function with few counted entries, such as a main
// loop.
static void fill_by_time(struct Factor *factor, const struct Code *code,
                         const struct Moment *at)
{
    const struct CCalls *calls = CCalls_of(code);
    double ticks = calls->ticks;

    factor->unseen = 0;
    factor->rate = ticks > 0 ? at->hz / ticks : NAN;
    factor->error = ticks > 0 ? time_error(calls, at->hz) : NAN;
    factor->calls =
        factor->rate *
        fmax((double)(int64_t)(at->ticks - calls->begun) / at->hz, 0);
    if (!runs(code, at))
        factor->rate = 0;
}

// Returns the calls per second of a hot function that one sample stands for, if
// the function has no sample yet. Otherwise returns 0.
static double unseen_rate(const struct Code *code, const struct Moment *at)
{
    if (Code_arming(code) != ARMED_HOT || samples_of(code) > 0 ||
        !runs(code, at))
        return 0;
    return SAMPLE_S / fmax(seen_s(code, at), SAMPLE_S) * at->hz /
           Code_mean_cycles(code) * Code_calls_an_entry(code);
}

// Returns the function's own calls per second, or NaN if unknown.
static double own_rate(const struct Code *code, const struct Moment *at)
{
    return isnan(code->row.rate) && !runs(code, at) ? 0 : code->row.rate;
}

// See Factor.most.
static double most_of(const struct Code *code, const struct Moment *at)
{
    const struct CCalls *calls = CCalls_of(code);

    if (own_rate(code, at) == 0 && !runs(code, at))
        return 0;
    if (code->row.rate > 0 || !CCalls_is_open(code) || !calls->begun)
        return NAN;
    return C_CALLS_SLICE * at->hz /
           fmax((double)(int64_t)(at->ticks - calls->begun), at->hz);
}

static struct Factor factor_of(const struct Code *code, const struct Moment *at)
{
    const struct CCalls *calls = CCalls_of(code);
    const struct CSums *sums = &calls->sums;
    double entries = calls->entries * Code_calls_an_entry(code);
    double rate = own_rate(code, at);
    struct Factor factor;
    struct Function f;

    if (calls->entries < ENTRIES_ENOUGH || !(sums->estimated_s > 0))
        fill_by_time(&factor, code, at);
    else
        factor = (struct Factor){
            .rate = rate / entries,
            .error = own_error(code, at),
            .unseen = unseen_rate(code, at) / entries,
            .calls = (sums->estimated + rate * (at->now - sums->estimated_s)) /
                     entries,
        };
    factor.own_rate = rate;
    factor.own_calls = sums->estimated;
    factor.most = most_of(code, at);
    ExceptionRows_fill_function(&f, code, at);
    factor.raised = (double)f.raised / (double)Counter_get(&code->cold.raised);
    return factor;
}

static void add_pair(const struct Moment *at, const struct CPair *pair,
                     const struct Factor *factor)
{
    const struct Code *code = Registry_by_id(at->registry, pair->id);
    struct CCalls *own = code ? CCalls_of(code) : NULL;
    double calls = pair->calls, raised = (double)Counter_get(&pair->raised);
    double rate = calls * factor->rate, error;

    if (!own)
        return;
    if (raised > 0 && isfinite(factor->raised))
        own->sums.raised += factor->raised * raised;
    error = sum_error(rate * sum_error(factor->error, 1 / sqrt(calls)),
                      calls * factor->unseen);
    calls *= factor->calls;
    if (!pair->counted) {
        // Nothing is known, so each call of the function is assumed to make one
        // call.
        rate = factor->most == 0 ? 0 : factor->own_rate;
        error = isnan(factor->most) ? rate : factor->most;
        calls = factor->own_calls;
        own->sums.guessed |= isnan(factor->most);
    } else if (!(pair->calls > 0)) {
        return;
    }
    own->sums.lacks |= isnan(rate) || isnan(error);
    own->sums.known |= pair->counted;
    own->sums.rate += rate;
    own->sums.variance += error * error;
    own->sums.calls += calls;
}

static void add_calls(const struct Moment *at, const struct Code *code)
{
    const struct CCalls *calls = CCalls_of(code);
    struct Factor factor;

    if (!calls || code->who.c_function)
        return;
    factor = factor_of(code, at);
    for (int i = 0; i < C_CALLS_BUCKETS; i++) {
        // This load pairs with the release in c_calls.c.
        const struct CPair *pair =
            atomic_load_explicit(&calls->pairs[i], memory_order_acquire);

        for (; pair;
             pair = atomic_load_explicit(&pair->next, memory_order_relaxed))
            add_pair(at, pair, &factor);
    }
}

static void begin_sums(struct CSums *sums)
{
    *sums = (struct CSums){
        .calls = sums->gone_calls,
        .raised = sums->gone_raised,
        .gone_calls = sums->gone_calls,
        .gone_raised = sums->gone_raised,
    };
}

void CRates_update(const struct Moment *at)
{
    struct Code *code;

    if (!atomic_load_explicit(&at->registry->has_c, memory_order_relaxed))
        return;
    Rcu_read_lock();
    for (code = Registry_first(at->registry); code; code = Registry_next(code))
        if (code->who.c_function && CCalls_of(code))
            begin_sums(&CCalls_of(code)->sums);
    for (code = Registry_first(at->registry); code; code = Registry_next(code))
        add_calls(at, code);
    Rcu_read_unlock();
}

static void retire_pair(const struct Code *code, const struct CPair *pair,
                        struct CSums *sums)
{
    const struct CCalls *calls = CCalls_of(code);
    double raised = (double)Counter_get(&pair->raised);

    if (raised > 0)
        sums->gone_raised +=
            raised * (1 + Counter_get_double(&code->cold.raised_missed) /
                              (double)Counter_get(&code->cold.raised));
    if (calls->entries > 0)
        sums->gone_calls += pair->calls * calls->sums.estimated /
                            (calls->entries * Code_calls_an_entry(code));
}

void CRates_retire(struct Registry *registry, const struct Code *code)
{
    const struct CCalls *calls = CCalls_of(code);

    if (!calls || code->who.c_function)
        return;
    Rcu_read_lock();
    for (int i = 0; i < C_CALLS_BUCKETS; i++)
        for (struct CPair *pair = calls->pairs[i]; pair; pair = pair->next) {
            const struct Code *own = Registry_by_id(registry, pair->id);

            if (own && CCalls_of(own))
                retire_pair(code, pair, &CCalls_of(own)->sums);
        }
    Rcu_read_unlock();
}

static void fill_c(struct Function *f, const struct Code *code,
                   const struct Moment *at)
{
    const struct CCalls *calls = CCalls_of(code);
    double mean = Code_self_mean(code);

    if (calls && f->raised != NULL_U64)
        f->raised = (uint64_t)calls->sums.raised;
    if (code->hot.calls_exact)
        return;
    f->rate_estimated = true;
    f->missed_per_s = 0;
    f->calls_per_s = f->calls_per_s_error = f->calls_estimated = NAN;
    f->calls_error = f->avg_cycles = NAN;
    if (!calls || !calls->sums.known || calls->sums.lacks ||
        (calls->sums.guessed && !(calls->sums.rate > 0)))
        return;
    f->calls_per_s = f->missed_per_s = calls->sums.rate;
    f->calls_per_s_error = sqrt(calls->sums.variance);
    // A part of the rate is only a guess, so the rate is one, too.
    if (calls->sums.guessed)
        f->calls_per_s_error = fmax(f->calls_per_s_error, calls->sums.rate);
    f->calls_estimated = fmax(calls->sums.calls, (double)f->calls);
    if (f->calls_per_s > 0)
        f->calls_error = f->calls_per_s_error / f->calls_per_s;
    f->avg_estimated = !(mean >= SURE_CYCLES) && f->calls_per_s > 0 &&
                       at->sees && f->run_samples >= SAMPLES_ENOUGH;
    f->avg_cycles =
        f->avg_estimated ? f->cpu_share * at->hz / f->calls_per_s : mean;
}

void CRates_fill(struct Function *f, const struct Code *code,
                 const struct Moment *at)
{
    struct CCalls *calls = CCalls_of(code);

    if (code->who.c_function) {
        fill_c(f, code, at);
    } else if (calls) {
        calls->sums.estimated = fmax(f->calls_estimated, (double)f->calls);
        calls->sums.estimated_s = at->now;
    }
}
