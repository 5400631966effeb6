// SPDX-License-Identifier: MIT
// See means.h.
#include "tracer/code/means.h"

#include <math.h>

#define SAMPLES_ENOUGH 20 // for a mean made of a share

double Code_sampled_cycles(const struct Code *code, uint64_t self_ns)
{
    double cumulative = (double)Counter_get(&code->share.cumulative.total_ns);
    uint64_t calls = Counter_get(&code->hot.calls);
    double total =
        (double)Counter_cycles(&code->hot.total_cycles) / (double)calls;

    if (!calls || !(total > 0) ||
        !(cumulative > 0) || // none may have come back
        Counter_get(&code->share.samples) < SAMPLES_ENOUGH)
        return NAN;
    return total * (double)self_ns / cumulative;
}

uint64_t Code_sampled_ns(const struct Code *code)
{
    uint64_t wait = Counter_get(&code->share.wait.total_ns);
    uint64_t to_run = Counter_get(&code->share.wait_to_run.total_ns);

    return Counter_get(&code->share.cpu.total_ns) +
           (wait > to_run ? wait - to_run : 0);
}

// The part of its waiting that is neither for the interpreter nor for a CPU.
static double own_wait(const struct Code *code)
{
    double wait = (double)Counter_get(&code->share.wait.total_ns);
    double to_run = (double)Counter_get(&code->share.wait_to_run.total_ns);

    return wait > 0 ? fmax(1 - to_run / wait, 0) : 1;
}

// What has been added since the mark; cycles net of what hooks cost may come
// out below zero.
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

    Recent_note(&code->plan.recent, &now, ticks, (uint64_t)(RECENT_S * hz));
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

double Code_mean_cycles(const struct Code *code)
{
    const struct RecentMark *from = Recent_mark(&code->plan.recent);

    if (!Counter_get(
            &code->hot.self_calls)) // always one of its callees was dark
        return Code_sampled_cycles(code, Code_sampled_ns(code));
    return Code_self_mean(code) +
           since(&code->hot.waited_cycles, &from->waited) * own_wait(code) /
               since(&code->hot.self_calls, &from->calls);
}

double Code_call_rate(const struct Code *code, const struct ShareTime *now,
                      double hz)
{
    const struct Share *share = &code->share;
    double mean = Code_mean_cycles(code);
    double wait = ShareValue_window(&share->wait, now) -
                  ShareValue_window(&share->wait_to_run, now);

    return mean > 0 ? (ShareValue_window(&share->cpu, now) + fmax(wait, 0)) *
                          hz / mean
                    : NAN;
}

double Code_dark_calls(const struct Code *code, double hz)
{
    double mean = Code_mean_cycles(code) / hz * 1e9; // ns
    uint64_t now = Code_sampled_ns(code);
    uint64_t then =
        atomic_load_explicit(&code->cold.dark_from_ns, memory_order_relaxed);

    return mean > 0 && now >= then ? (double)(now - then) / mean : NAN;
}
