// SPDX-License-Identifier: MIT
#include "tracer/session/function_row.h"
#include "tracer/code/means.h"
#include "tracer/code/spans.h"
#include "tracer/sample/breakdown.h"
#include "tracer/session/c_rates.h"
#include "tracer/session/exception_rows.h"
#include "tracer/session/latency_row.h"
#include "tracer/session/parts_row.h"

#include <math.h>

// From this relative error of the number of calls on, no digit of the calls per
// second is certain.
#define UNKNOWN 0.5

static const double QUANTILES[] = {0.5, 0.99};

static void fill_shares(struct Function *f, const struct Code *code,
                        const struct Moment *at)
{
    const struct ShareParts *parts = Share_parts(&code->share);

    if (!at->sampled)
        return;
    f->run_share = ShareValue_total(&code->share.cpu, at->sampled);
    f->samples = Counter_get(&code->share.samples);
    f->run_samples = Counter_get(&code->share.run_samples);
    if (at->waits) {
        f->gil_blocked_share = ShareValue_window(&parts->blocked, at->sampled);
        f->gil_blocked_s = (double)Counter_get(&parts->blocked.total_ns) / 1e9;
    }
    if (!at->sees) // Shares of the newest seconds are not known.
        return;
    f->cpu_share = ShareValue_window(&code->share.cpu, at->sampled);
    f->share = f->cpu_share;
    f->wait_share = ShareValue_window(&parts->wait, at->sampled);
    f->total_share = ShareValue_window(&parts->cumulative, at->sampled);
    f->c_share = ShareValue_window(&parts->in_c, at->sampled);
}

// Fills in the list of a function's callers. Callers that no longer exist share
// an entry, whose id is null.
static void fill_callers(struct Arena *arena, struct Function *f,
                         const struct Code *code, const struct Moment *at)
{
    const struct Breakdown *breakdown = Share_callers(&code->share);

    if (at->sees && breakdown)
        f->callers =
            Breakdown_list(breakdown, at->sampled, arena, &f->caller_count);
}

// Fills in the quantiles of calls' cycles. It takes longer to read a histogram
// than to fill the rest of a row, and most functions have no hooks (are dark).
// If no call was added since the last row, the quantiles of that row are
// therefore used. A call is first counted, and a little later added to the
// histogram. The next snapshot therefore reads the quantiles once more, after
// which they are final.
static void fill_quantiles(struct Function *f, struct Code *code)
{
    const struct Histogram *histogram = Code_histogram(code);
    uint64_t calls = Counter_get(&code->hot.self_calls);
    bool same = calls == code->row.quantiles_calls;
    double quantiles[2];

    if (!histogram)
        return;
    if (!same || !code->row.quantiles_settled) {
        Histogram_quantiles(histogram, QUANTILES, quantiles, 2);
        code->row.p50_cycles = (float)quantiles[0];
        code->row.p99_cycles = (float)quantiles[1];
        code->row.spread = (float)Histogram_spread(histogram);
        code->row.quantiles_calls = calls;
        code->row.quantiles_settled = same;
    }
    f->p50_cycles = code->row.p50_cycles;
    f->p99_cycles = code->row.p99_cycles;
}

static void fill_cycles(struct Function *f, struct Code *code)
{
    uint64_t calls = Counter_get(&code->hot.self_calls);
    uint64_t least = Counter_get(&code->hot.min_cycles);

    f->self_cycles = f->total_cycles = f->waited_cycles = NULL_U64;
    // If every call has called a function without hooks (a dark callee), only
    // the total time is known.
    if (calls || Counter_get(&code->hot.total_cycles))
        f->total_cycles = Counter_cycles(&code->hot.total_cycles);
    if (Code_is_hardly_timed(code))
        f->avg_cycles =
            Code_sampled_cycles(code, Counter_get(&code->share.cpu.total_ns)) /
            Code_calls_an_entry(code);
    f->avg_estimated = !calls || !isnan(f->avg_cycles);
    if (!calls)
        return;
    f->self_cycles = Counter_cycles(&code->hot.self_cycles);
    f->waited_cycles = Counter_get(&code->hot.waited_cycles);
    if (!f->avg_estimated)
        f->avg_cycles = Code_self_mean(code) / Code_calls_an_entry(code);
    if (least != UINT64_MAX)
        f->min_cycles = (double)least;
    fill_quantiles(f, code);
}

// Returns true if the function had no hooks (was dark) at some time since
// begin_rate was called.
static bool was_dark(const struct Code *code)
{
    return code->hot.dark || code->row.rate_dark ||
           atomic_load_explicit(&code->cold.dark_times, memory_order_relaxed) !=
               code->row.rate_dark_times;
}

// Begins to count the calls from which the next calls per second are computed.
static void begin_rate(struct Code *code, const struct Moment *at)
{
    code->row.rate_calls = Code_calls(code);
    code->row.rate_at = at->now;
    code->row.rate_dark = code->hot.dark;
    code->row.rate_dark_times =
        atomic_load_explicit(&code->cold.dark_times, memory_order_relaxed);
}

// Spans are the times in which a function had hooks. Returns the time in ticks
// until which the rate is computed from the spans as they were last read. While
// a function has hooks and is not called, its calls per second fall slowly. The
// row of a function that is not called is therefore filled again only when its
// open span has become 1.5 to 2 times as long. The factor between 1.5 and 2
// depends on the function's id, so that not all rows are filled at once after a
// slice.
static uint64_t spans_until(const struct Code *code)
{
    uint64_t length =
        code->row.spans_ticks - Counter_get(&code->spans.open_ticks);

    return code->row.spans_ticks + length / 64 * (32 + code->hot.id % 32);
}

static uint64_t spans_ticks(struct Code *code, const struct Moment *at)
{
    struct CodeRow *row = &code->row;
    uint32_t open = (uint32_t)Counter_get(&code->spans.open_ticks);
    uint32_t calls = (uint32_t)Code_calls(code);

    if (!open || open != row->spans_open || calls != row->spans_calls ||
        at->ticks >= spans_until(code)) {
        row->spans_open = open;
        row->spans_calls = calls;
        row->spans_ticks = at->ticks;
    }
    return row->spans_ticks;
}

// Returns the calls per second of a function that had no hooks (was dark) at
// some time since begin_rate. The rate is computed from the spans, which are
// the times in which the function had hooks. A hot function never has hooks, so
// its rate is its sampled time divided by the time of a call.
static double estimated_rate(struct Code *code, const struct Moment *at)
{
    if (Code_arming(code) != ARMED_HOT)
        return Spans_rate(code, spans_ticks(code, at), at->hz);
    return at->sees ? Code_call_rate(code, at->sampled, at->hz) *
                          Code_calls_an_entry(code)
                    : NAN;
}

// Returns the relative error of Code_calls_an_entry. If a function loses its
// hooks during a call, only some of this call's entries are counted.
static double entry_error(const struct Code *code)
{
    double calls = (double)Code_calls(code);
    double cuts = (double)atomic_load_explicit(&code->cold.dark_times,
                                               memory_order_relaxed);

    return Counter_get(&code->hot.resumed) ? cuts / fmax(calls, 1) : 0;
}

// Returns true if only samples can tell how often the function was called for
// a time.
static bool was_hot(const struct Code *code)
{
    return code->spans.was_hot || Code_arming(code) == ARMED_HOT;
}

// Returns the estimated number of calls that no hook has counted. Stores the
// standard deviation of the estimate in *error. Without a histogram the spread
// of the durations is taken as 1, because they may differ by any factor.
static double missed_calls(struct Code *code, const struct Moment *at,
                           double *error)
{
    uint64_t ticks = spans_ticks(code, at);
    double hot = Code_dark_calls(code, at->hz) * Code_calls_an_entry(code);
    double missed = Spans_missed(code, ticks, at->hz);
    double rate = Spans_rate(code, ticks, at->hz);
    double of_rate = Spans_rate_error(code, ticks, at->hz) / rate;

    *error = was_hot(code) || hot > 0
                 ? Code_calls_error(
                       code, code->row.quantiles_calls ? code->row.spread : 1,
                       at->hz) *
                       Code_calls_an_entry(code)
                 : 0;
    *error = sum_error(*error, hot * entry_error(code));
    if (missed > 0)
        *error = sum_error(*error, missed * of_rate);
    return hot + missed;
}

// Counts the rate over `since` seconds. If an own function is seldom called, a
// second has a random number of calls. If two rates in turn are not 0, the rate
// is therefore counted for longer. The rate from before then holds as long as
// it fits: the calls differ from it by at most three standard deviations.
static void count_rate(struct Code *code, double calls, double since,
                       const struct Moment *at)
{
    struct CodeRow *row = &code->row;
    double apart = calls - row->rate * since;
    bool full = since >= RATE_MOST || calls >= RATE_CALLS;
    bool begins = row->rate_kind == RATE_SHORT && !(row->rate * calls > 0);
    bool fits = apart * apart <= 9 * (row->rate * since + 1);

    row->rate_estimated = false;
    if (row->rate_kind == RATE_HOLDS && fits && !full)
        return;
    row->rate = calls / since;
    if (!code->who.own || begins || !fits || !(calls > 0))
        row->rate_kind = RATE_SHORT;
    else
        row->rate_kind = full ? RATE_HOLDS : RATE_GROWS;
    if (row->rate_kind != RATE_GROWS)
        begin_rate(code, at);
}

// Fills in the calls per second. Calls per second are counted if the function
// always had hooks, otherwise estimated.
static void fill_rates(struct Function *f, struct Code *code,
                       const struct Moment *at)
{
    double since, error;

    if (code->row.rate_at == 0)
        code->row.rate_at = at->started;
    since = at->now - code->row.rate_at;
    if (was_dark(code)) {
        code->row.rate = estimated_rate(code, at);
        code->row.rate_estimated = true;
        code->row.rate_kind = RATE_SHORT;
        begin_rate(code, at);
    } else if (since >= RATE_WINDOW) {
        count_rate(code, (double)(f->calls - code->row.rate_calls), since, at);
    }
    f->calls_per_s = code->row.rate;
    f->rate_estimated = code->row.rate_estimated;
    f->calls_estimated = (double)f->calls;
    if (f->calls_exact)
        return;
    f->calls_estimated += missed_calls(code, at, &error);
    f->missed_per_s = Spans_missed_rate(code, spans_ticks(code, at), at->hz);
    if (was_hot(code) && (!at->sees || (!Counter_get(&code->share.samples) &&
                                        Code_called_samples(code) == 0)))
        f->calls_estimated = NAN;
    f->calls_error = error / f->calls_estimated;
    if (!f->rate_estimated)
        return;
    if (Code_arming(code) != ARMED_HOT)
        f->calls_per_s_error =
            Spans_rate_error(code, spans_ticks(code, at), at->hz);
    else if (f->calls_error > UNKNOWN)
        // The calls per second have the same error, because they are computed
        // from the same mean.
        f->calls_per_s = NAN;
}

// Counts a function's sites (places in bytecode that can have hooks) only after
// a change. Most functions seldom change, and it takes time to read their
// sites, which need much memory.
static void fill_sites(struct Function *f, struct Code *code)
{
    // This load pairs with the release in Code_note_change.
    uint32_t changes =
        atomic_load_explicit(&code->cold.site_changes, memory_order_acquire);
    uint64_t sites, dark;

    if (!code->row.sites_counted || code->row.site_changes != changes) {
        Code_count_sites(code, &sites, &dark);
        code->row.sites = (uint32_t)sites;
        code->row.dark_sites = (uint32_t)dark;
        code->row.site_changes = changes;
        code->row.sites_counted = true;
    }
    f->sites = code->row.sites;
    f->dark_sites = code->row.dark_sites;
}

static uint64_t state_of(const struct Code *code, uint64_t sites, uint64_t dark)
{
    if (Code_arming(code) == ARMED_SLICES)
        return STATE_PARTIAL;
    if (!dark && !code->hot.dark)
        return STATE_ARMED;
    return dark == sites ? STATE_DARK : STATE_PARTIAL;
}

// Returns the seconds since the function's newest hit. If the function's newest
// calls cannot be timed because they call a function without hooks (a dark
// function), returns the seconds since the newest timed call.
static double age_of(const struct Code *code, const struct Moment *at)
{
    uint64_t seen = Counter_get(&code->hot.last_seen);
    uint64_t timed = Counter_get(&code->plan.timed_ticks);

    if (!seen)
        return NAN;
    if (timed && timed < seen && Counter_get(&code->hot.self_calls) &&
        Code_dark_callees(code))
        seen = timed;
    return fmax((double)(int64_t)(at->ticks - seen) / at->hz, 0);
}

static void fill_specialized(struct Function *f, const struct Code *code)
{
    uint32_t specializable =
        atomic_load_explicit(&code->poll.specializable, memory_order_relaxed);

    f->specializable_sites = f->specialized_sites = NULL_U64;
    if (specializable == UINT32_MAX)
        return;
    f->specializable_sites = specializable;
    f->specialized_sites =
        atomic_load_explicit(&code->poll.specialized, memory_order_relaxed);
}

// A row in which all numbers are unknown.
static const struct Function UNKNOWN_ROW = {
    .c_share = NAN,
    .min_cycles = NAN,
    .avg_cycles = NAN,
    .p50_cycles = NAN,
    .p99_cycles = NAN,
    .calls_error = NAN,
    .share = NAN,
    .cpu_share = NAN,
    .wait_share = NAN,
    .total_share = NAN,
    .run_share = NAN,
    .calls_per_s = NAN,
    .calls_per_s_error = NAN,
    .gil_blocked_share = NAN,
    .gil_blocked_s = NAN,
    .samples = NULL_U64,
    .run_samples = NULL_U64,
};

void FunctionRow_fill(struct Arena *arena, struct SharedRow *row,
                      struct Code *code, const struct Moment *at)
{
    struct Function *f = &row->function;

    *f = UNKNOWN_ROW;
    f->id = code->hot.id;
    f->name = Arena_text(arena, code->who.name);
    f->file = Arena_text(arena, code->who.file);
    f->line = code->who.line;
    f->calls = Code_calls(code);
    f->resumptions = Counter_get(&code->hot.resumed);
    f->calls_exact = code->hot.calls_exact;
    fill_shares(f, code, at);
    fill_cycles(f, code);
    LatencyRow_fill(f, code, at);
    LatencyRow_fill_totals(arena, f, code);
    ExceptionRows_fill_function(f, code, at);
    fill_rates(f, code, at);
    CRates_fill(f, code, at);
    fill_sites(f, code);
    f->state = state_of(code, f->sites, f->dark_sites);
    f->age_s = age_of(code, at);
    fill_specialized(f, code);
    row->events = Code_events(code);
    PartsRow_fill(arena, f, code, at);
    fill_callers(arena, f, code, at);
}

// Returns true if `missed_per_s` is the growth of all calls that no hook saw.
// Fading_apply computes the number of missed calls from this growth.
static bool is_growth_known(const struct Function *f, const struct Code *code)
{
    return !(f->missed_per_s > 0) ||
           (f->calls_estimated > (double)f->calls &&
            code->cold.dark_calls == 0 && code->cold.dark_ns == 0);
}

uint64_t FunctionRow_settled_until(const struct Function *f,
                                   const struct Code *code)
{
    bool same = code->hot.dark ? f->rate_estimated
                               : !f->rate_estimated && f->calls_per_s == 0 &&
                                     f->calls == code->row.rate_calls;

    if (!same || (code->hot.histogram && !code->row.quantiles_settled) ||
        !is_growth_known(f, code) || LatencyRow_changes(f, code) ||
        // The row of a C function depends on its callers' rows.
        code->who.c_function)
        return 0;
    return Spans_is_settled(code) ? UINT64_MAX : spans_until(code);
}
