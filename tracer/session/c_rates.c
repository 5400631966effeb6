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

// The counts of a function's calls of C functions are multiplied by these
// factors.
struct Factor {
    double rate;   // Factor for calls per second.
    double error;  // Relative standard error of `rate`.
    double calls;  // Factor for calls since tracing began.
    double raised; // Factor for all exceptions.
    // The function's own calls per second, and the number of its own calls.
    double own_rate, own_calls;
};

// Returns the relative error of the function's own rate of calls.
static double own_error(const struct Code *code, const struct Moment *at)
{
    double rate;

    if (!code->row.rate_estimated)
        return 0;
    if (Code_arming(code) == ARMED_HOT)
        return 1 / sqrt((double)Counter_get(&code->share.samples) +
                        Code_called_samples(code) + 1);
    rate = Spans_rate(code, at->ticks, at->hz);
    return rate > 0 ? Spans_rate_error(code, at->ticks, at->hz) / rate : 0;
}

// Computes the factors for a function with few counted entries, such as a main
// loop.
static void fill_by_time(struct Factor *factor, const struct Code *code,
                         const struct Moment *at)
{
    const struct CCalls *calls = CCalls_of(code);
    double ticks = calls->ticks;

    factor->rate = ticks > 0 ? at->hz / ticks : NAN;
    // If calls come in bursts, the lengths of windows differ.
    factor->error = ticks > 0 ? hypot(sqrt(calls->errors) / ticks,
                                      UNSURE * calls->hooks / ticks)
                              : NAN;
    factor->calls =
        factor->rate *
        fmax((double)(int64_t)(at->ticks - calls->begun) / at->hz, 0);
}

static struct Factor factor_of(const struct Code *code, const struct Moment *at)
{
    const struct CCalls *calls = CCalls_of(code);
    const struct CSums *sums = &calls->sums;
    double entries = calls->entries * Code_calls_an_entry(code);
    struct Factor factor;
    struct Function f;

    if (calls->entries < ENTRIES_ENOUGH || !(sums->estimated_s > 0))
        fill_by_time(&factor, code, at);
    else
        factor = (struct Factor){
            .rate = code->row.rate / entries,
            .error = own_error(code, at),
            .calls = (sums->estimated +
                      code->row.rate * (at->now - sums->estimated_s)) /
                     entries,
        };
    factor.own_rate = code->row.rate;
    factor.own_calls = sums->estimated;
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
    error = rate * hypot(factor->error, 1 / sqrt(calls));
    calls *= factor->calls;
    if (!pair->counted) {
        // Nothing is known, so each call of the function is assumed to make one
        // call.
        rate = error = factor->own_rate;
        calls = factor->own_calls;
    } else if (!(pair->calls > 0)) {
        return;
    }
    own->sums.lacks |= isnan(rate);
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

void CRates_update(const struct Moment *at)
{
    struct Code *code;

    if (!atomic_load_explicit(&at->registry->has_c, memory_order_relaxed))
        return;
    Rcu_read_lock();
    for (code = Registry_first(at->registry); code; code = Registry_next(code))
        if (code->who.c_function && CCalls_of(code))
            CCalls_of(code)->sums = (struct CSums){0};
    for (code = Registry_first(at->registry); code; code = Registry_next(code))
        add_calls(at, code);
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
    if (!calls || !calls->sums.known || calls->sums.lacks)
        return;
    f->calls_per_s = f->missed_per_s = calls->sums.rate;
    f->calls_per_s_error = sqrt(calls->sums.variance);
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
