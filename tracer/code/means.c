// SPDX-License-Identifier: MIT
#include "tracer/code/means.h"

#include <math.h>

// Least number of samples for a mean that is computed from sampled time.
#define SAMPLES_ENOUGH 20
#define CALLS_ENOUGH 64 // Least number of timed calls for a mean.
// A call is overlong if it lasts for more than this multiple of the mean.
#define OVERLONG 1000
// If a function has more than this multiple of entries for each timed call, its
// mean comes from samples.
#define MOSTLY 4
// Consecutive calls are alike, so this number of them says as much as one
// separate call.
#define CALLS_ALIKE 16.0
// ns of CPU time per sample, assumed until there is a sample.
#define SAMPLE_NS 5e6

double Code_sampled_cycles(const struct Code *code, uint64_t self_ns)
{
    double cumulative =
        (double)Counter_get(&Share_parts(&code->share)->cumulative.total_ns);
    uint64_t calls = Counter_get(&code->hot.entries);
    double total =
        (double)Counter_cycles(&code->hot.total_cycles) / (double)calls;

    if (!calls || !(total > 0) ||
        !(cumulative > 0) || // `total` is 0 until a call has returned.
        (double)Counter_get(&code->share.samples) + Code_called_samples(code) <
            SAMPLES_ENOUGH)
        return NAN;
    return total * (double)self_ns / cumulative;
}

uint64_t Code_sampled_ns(const struct Code *code)
{
    const struct ShareParts *parts = Share_parts(&code->share);
    uint64_t ns = Counter_get(&code->share.cpu.total_ns) +
                  Counter_get(&parts->called_c.total_ns) +
                  Counter_get(&parts->wait_in_calls.total_ns);
    uint64_t in_long_calls = Counter_get(&parts->in_long_calls.total_ns);

    return ns > in_long_calls ? ns - in_long_calls : 0;
}

double Code_called_samples(const struct Code *code)
{
    return (double)Counter_get(&Share_parts(&code->share)->called_samples);
}

// Returns the fraction of the function's waiting time that is no wait for the
// GIL or for a CPU.
static double own_wait(const struct Code *code)
{
    const struct ShareParts *parts = Share_parts(&code->share);
    double wait = (double)Counter_get(&parts->wait.total_ns);
    double to_run = (double)Counter_get(&parts->wait_to_run.total_ns);

    return wait > 0 ? fmax(1 - to_run / wait, 0) : 1;
}

// Returns the increase of a counter since the mark, or 0 if the counter has
// decreased. Counters of cycles can decrease, because the hooks' cost is
// subtracted from them.
static double since(const counter_t *now, const counter_t *then)
{
    return fmax((double)(int64_t)(Counter_get(now) - Counter_get(then)), 0);
}

double Code_self_mean(const struct Code *code)
{
    const struct RecentMark *from = Recent_mark(&code->plan.recent);

    return since(&code->hot.self_cycles, &from->cycles) /
           since(&code->hot.self_calls, &from->calls);
}

void Code_note_recent(struct Code *code, uint64_t ticks, double hz)
{
    const struct RecentMark now = {Counter_get(&code->hot.self_calls),
                                   Counter_get(&code->hot.self_cycles),
                                   Counter_get(&code->hot.waited_cycles)};

    if (Recent_note(&code->plan.recent, &now, ticks, (uint64_t)(RECENT_S * hz)))
        Code_touch(code);
}

void Code_age_histogram(struct Code *code)
{
    uint64_t calls = Counter_get(&Recent_mark(&code->plan.recent)->calls);
    struct Histogram *histogram = Code_histogram(code);

    if (!histogram || calls == code->cold.aged_calls)
        return;
    code->cold.aged_calls = calls;
    Histogram_age(histogram);
}

static double timed_calls(const struct Code *code)
{
    const struct RecentMark *from = Recent_mark(&code->plan.recent);

    return since(&code->hot.self_calls, &from->calls);
}

bool Code_is_hardly_timed(const struct Code *code)
{
    double timed = timed_calls(code);

    return timed < CALLS_ENOUGH &&
           MOSTLY * timed < (double)Counter_get(&code->hot.entries);
}

double Code_mean_cycles(const struct Code *code)
{
    const struct RecentMark *from = Recent_mark(&code->plan.recent);
    double timed = timed_calls(code), sampled = NAN;

    if (Code_is_hardly_timed(code) || timed == 0)
        sampled = Code_sampled_cycles(code, Code_sampled_ns(code));
    if (timed == 0 || !isnan(sampled))
        return sampled;
    return Code_self_mean(code) +
           since(&code->hot.waited_cycles, &from->waited) * own_wait(code) /
               timed;
}

double Code_call_rate(const struct Code *code, const struct ShareTime *now,
                      double hz)
{
    const struct ShareParts *parts = Share_parts(&code->share);
    double mean = Code_mean_cycles(code);
    double share = ShareValue_window(&code->share.cpu, now) +
                   ShareValue_window(&parts->called_c, now) +
                   ShareValue_window(&parts->wait_in_calls, now) -
                   ShareValue_window(&parts->in_long_calls, now);

    return mean > 0 ? fmax(share, 0) * hz / mean : NAN;
}

bool Code_is_overlong(const struct Code *code, double cycles)
{
    return !Code_is_hardly_timed(code) &&
           cycles > OVERLONG * Code_mean_cycles(code);
}

// Returns true if the code has no hooks (is dark) and the number of its calls
// is known only from samples. If code has hooks in slices, the number of its
// calls comes from spans instead (spans.h).
static bool is_dark_and_hot(const struct Code *code)
{
    return code->hot.dark && Code_arming(code) == ARMED_HOT;
}

// Returns the sampled ns of the function in the times in which it had no hooks
// (was dark). Ns that were converted into dark_calls are not included. The
// result is negative if converted ns have turned out to be of a long call.
static double dark_ns(const struct Code *code)
{
    uint64_t then =
        atomic_load_explicit(&code->cold.dark_from_ns, memory_order_relaxed);
    double ns = (double)(int64_t)(Code_sampled_ns(code) - then);

    return (double)code->cold.dark_ns +
           (is_dark_and_hot(code) ? ns : fmin(ns, 0));
}

void Code_begin_dark(struct Code *code)
{
    uint64_t then =
        atomic_load_explicit(&code->cold.dark_from_ns, memory_order_relaxed);
    uint64_t now = Code_sampled_ns(code);

    atomic_store_explicit(&code->cold.dark_from_ns, now > then ? now : then,
                          memory_order_relaxed);
}

void Code_end_dark(struct Code *code, double hz)
{
    double ns = dark_ns(code), mean = Code_mean_cycles(code) / hz * 1e9;

    if (timed_calls(code) < CALLS_ENOUGH || !(mean > 0)) {
        code->cold.dark_ns = (uint64_t)fmax(ns, 0);
    } else {
        code->cold.dark_calls = code->cold.dark_calls + ns / mean;
        code->cold.dark_ns = 0;
    }
    code->cold.dark_from_ns = Code_sampled_ns(code);
}

// Returns the standard error, in ns, of the time `ns` that `samples` samples
// have measured. The error is computed for one sample more, so it is never 0.
static double off_by(double samples, double ns)
{
    return sqrt(samples + 1) * (samples > 0 ? ns / samples : SAMPLE_NS);
}

double Code_calls_error(const struct Code *code, double spread, double hz)
{
    double own = (double)Counter_get(&code->share.run_samples);
    double ran = own + Code_called_samples(code);
    const struct ShareParts *parts = Share_parts(&code->share);
    double all = (double)(Counter_get(&code->share.cpu.total_ns) +
                          Counter_get(&parts->called_c.total_ns));
    double cpu =
        fmax(all - (double)Counter_get(&parts->in_long_calls.total_ns), 0);
    double waits = (double)Counter_get(&parts->waits_in_calls);
    double wait = (double)Counter_get(&parts->wait_in_calls.total_ns);
    double mean = Code_mean_cycles(code) / hz * 1e9;
    double ns, by_mean;

    if (all > 0)
        ran *= cpu / all;
    ns = off_by(ran, cpu);
    if (waits > 0)
        ns = sum_error(ns, off_by(waits, fmax(wait, 0)));
    by_mean = Code_is_hardly_timed(code)
                  ? ns / mean
                  : Code_dark_calls(code, hz) * spread *
                        sqrt(CALLS_ALIKE / timed_calls(code));
    return mean > 0 ? sum_error(ns / mean, by_mean) : NAN;
}

double Code_dark_calls(const struct Code *code, double hz)
{
    double mean = Code_mean_cycles(code) / hz * 1e9, ns = dark_ns(code);

    if (ns == 0 && !is_dark_and_hot(code))
        return code->cold.dark_calls;
    return mean > 0 ? fmax(code->cold.dark_calls + ns / mean, 0) : NAN;
}
