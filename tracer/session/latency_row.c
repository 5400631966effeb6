// SPDX-License-Identifier: MIT
#include "tracer/session/latency_row.h"
#include "tracer/code/registry.h"

#include <math.h>

// If hooks have seen all newer calls begin, the calls that were found without a
// hook count only if the oldest of them has lasted this number of seconds.
#define FOUND_LEAST_S 1.0

static const double QUANTILES[] = {0.5, 0.99};

// Returns the smaller one of `value` and `most`. NaN stays NaN.
static double not_above(double most, double value)
{
    return value > most ? most : value;
}

// Fills in the longest latency and the quantiles. It takes long to read the
// histogram, so the quantiles are read again only after the number of calls has
// grown by 1/64. If hooks have missed the ends of some calls, these calls may
// have been the longest. If hooks have missed ends, a quantile is known only if
// far fewer ends were missed than calls are longer than the quantile.
static void fill_quantiles(struct Function *f, struct Latency *latency,
                           double hz)
{
    uint64_t calls = Counter_get(&latency->calls);
    uint64_t cut = Counter_get(&latency->cut);
    uint64_t read = latency->read_calls;
    double unit = (1u << LATENCY_SHIFT) / hz, missed, quantiles[2];

    if (calls > read + read / 64 || cut != latency->read_cut) {
        Histogram_quantiles(&latency->walls, QUANTILES, quantiles, 2);
        missed = (double)cut / (double)(Histogram_count(&latency->walls) + cut);
        latency->wall_p50_s = missed < 0.1 ? quantiles[0] * unit : NAN;
        latency->wall_p99_s = missed < 0.002 ? quantiles[1] * unit : NAN;
        latency->read_calls = calls;
        latency->read_cut = cut;
    }
    // The quantiles are limited, because a quantile may exceed the longest
    // latency by the width of a bucket.
    f->wall_max_s = (double)Counter_get(&latency->longest) / hz;
    f->wall_p50_s = not_above(f->wall_max_s, latency->wall_p50_s);
    f->wall_p99_s = not_above(f->wall_max_s, latency->wall_p99_s);
}

// Returns true if the hooks see all calls that begin now.
static bool is_armed(const struct Code *code)
{
    return !code->hot.dark && code->who.ends == ENDS_ALL &&
           Code_arming(code) != ARMED_SLICES && Code_arming(code) != ARMED_HOT;
}

// Returns true if the function has had hooks from its first call on.
static bool is_whole(const struct Code *code)
{
    return code->hot.calls_exact && !code->cold.early;
}

// Returns true if the function has had hooks for at least 1 s plus twice its
// longest latency. If any call has ended, all calls that began before the hooks
// were installed have then ended, except those that hang.
static bool is_armed_long(const struct Code *code,
                          const struct Latency *latency,
                          const struct Moment *at)
{
    uint64_t since = Counter_get(&code->spans.open_ticks);
    uint64_t longest = latency ? Counter_get(&latency->longest) : 0;

    return is_whole(code) ||
           (since && longest && at->ticks - since >= at->hz + 2.0 * longest);
}

// Fills in the calls in flight that hooks have seen begin.
static void fill_seen(struct Function *f, const struct Code *code,
                      const struct Latency *latency, const struct Moment *at,
                      bool all)
{
    // The hooks see the ends of calls that begin in a slice (Latency_watch).
    if (!is_armed(code) &&
        (Code_arming(code) != ARMED_SLICES || code->who.ends != ENDS_ALL))
        return;
    if (!latency || latency->look != at->registry->latencies.look ||
        !latency->in_flight) {
        if (all)
            f->in_flight = 0;
        return;
    }
    if (latency->unsure)
        return;
    f->in_flight = latency->in_flight;
    f->oldest_s =
        fmax((double)(int64_t)(at->ticks - latency->oldest) / at->hz, 0);
}

// Calls in flight that were found without a hook that has seen them begin.
struct FoundCalls {
    uint64_t calls;
    double oldest_s; // NaN if unknown.
};

// Returns the calls that the sampler has found on the stacks of threads that
// wait, and the calls that a walk over asyncio's tasks has found in suspended
// coroutines.
static struct FoundCalls find_calls(const struct Code *code,
                                    const struct Latency *latency,
                                    const struct Moment *at)
{
    struct FoundCalls found = {.oldest_s = NAN};
    uint64_t ns, suspended;
    int64_t ended = 0;

    found.calls = ShareStill_get(&Share_parts(&code->share)->still,
                                 (uint64_t)(at->now * 1e9), &ns);
    if (found.calls)
        found.oldest_s = (double)ns / 1e9;
    suspended = latency ? Counter_get(&latency->suspended) : 0;
    if (!suspended || at->ticks >= Counter_get(&latency->suspended_until))
        return found;
    // If hooks see all calls, each call that has ended since the walk may be
    // one that the walk has found. Otherwise the walk's numbers are the better
    // ones.
    if (code->hot.calls_exact)
        ended = (int64_t)(Latency_ended(latency) -
                          Counter_get(&latency->suspended_ended));
    if (ended >= (int64_t)suspended)
        return found;
    found.calls += suspended - (uint64_t)(ended > 0 ? ended : 0);
    // A call that only one walk has found has no age, and the oldest call may
    // be one that has ended.
    if (ended <= 0 && Counter_get(&latency->suspended_age))
        found.oldest_s =
            fmax(found.oldest_s,
                 (double)Counter_get(&latency->suspended_age) / at->hz);
    return found;
}

// If the function was not armed all the time, hooks have not seen all calls
// begin that are in flight.
static void fill_in_flight(struct Function *f, const struct Code *code,
                           const struct Latency *latency,
                           const struct Moment *at)
{
    bool all = is_armed(code) && is_armed_long(code, latency, at);
    struct FoundCalls found;
    uint64_t seen;

    fill_seen(f, code, latency, at, all);
    seen = f->in_flight;
    if (is_whole(code))
        return;
    found = find_calls(code, latency, at);
    if (found.calls && (!all || found.oldest_s > FOUND_LEAST_S)) {
        if (seen == NULL_U64 || seen < found.calls)
            f->in_flight = found.calls;
        f->oldest_s = fmax(f->oldest_s, found.oldest_s);
    }
    f->in_flight_is_least = f->in_flight != NULL_U64 && f->in_flight > 0 &&
                            !(all && f->in_flight == seen);
}

void LatencyRow_fill(struct Function *f, struct Code *code,
                     const struct Moment *at)
{
    struct Latency *latency = Code_latency(code);
    double calls;

    f->wall_p50_s = f->wall_p99_s = f->wall_max_s = NAN;
    f->oldest_s = f->await_s = NAN;
    f->in_flight = NULL_U64;
    f->in_flight_is_least = false;
    fill_in_flight(f, code, latency, at);
    if (!latency)
        return;
    calls = (double)Counter_get(&latency->calls);
    if (calls == 0)
        return;
    fill_quantiles(f, latency, at->hz);
    if (code->hot.enter_hook == HOOK_RESUME)
        f->await_s = ((double)Counter_get(&latency->wall) -
                      (double)Counter_get(&latency->ran)) /
                     calls / at->hz;
}

void LatencyRow_fill_totals(struct Arena *arena, struct Function *f,
                            const struct Code *code)
{
    const struct Latency *latency = Code_latency(code);
    const struct LatencyTotals *totals =
        latency ? Latency_totals(latency) : NULL;
    struct LatencyCounts *counts =
        totals ? Arena_alloc(arena, sizeof *counts) : NULL;

    if (!counts)
        return;
    counts->sum_s =
        (double)(Counter_get(&latency->wall) - totals->wall_before) *
        totals->tick_s;
    counts->missed = Counter_get(&totals->missed);
    for (unsigned i = 0; i < LATENCY_BUCKETS; i++)
        counts->of[i] = Counter_get(&totals->of[i]);
    f->latencies = counts;
    f->latency_count = 1;
}

bool LatencyRow_changes(const struct Function *f, const struct Code *code)
{
    return f->in_flight == NULL_U64 ? Code_latency(code) && is_armed(code)
                                    : f->in_flight > 0;
}
