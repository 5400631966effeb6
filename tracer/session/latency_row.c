// SPDX-License-Identifier: MIT
// See latency_row.h.
#include "tracer/session/latency_row.h"
#include "tracer/code/registry.h"

#include <math.h>

static const double QUANTILES[] = {0.5, 0.99};

// Fills the quantiles of the latency. Reading the histogram takes long, so the
// quantiles are read again only after the number of calls has grown by 1/64. If
// the ends of some calls were missed, these calls may have been the longest.
// Then a quantile is unknown, unless far fewer calls were missed than are
// beyond this quantile.
static void fill_quantiles(struct Function *f, struct Latency *latency,
                           double hz)
{
    uint64_t calls = Counter_get(&latency->calls);
    uint64_t cut = Counter_get(&latency->cut);
    uint64_t read = latency->read_calls;
    double unit = (1u << LATENCY_SHIFT) / hz, missed, quantiles[2];

    if (calls > read + read / 64 || cut != latency->read_cut) {
        Histogram_quantiles(&latency->walls, QUANTILES, quantiles, 2);
        missed = (double)cut / (double)(calls + cut);
        latency->wall_p50_s = missed < 0.1 ? quantiles[0] * unit : NAN;
        latency->wall_p99_s = missed < 0.002 ? quantiles[1] * unit : NAN;
        latency->read_calls = calls;
        latency->read_cut = cut;
    }
    f->wall_p50_s = latency->wall_p50_s;
    f->wall_p99_s = latency->wall_p99_s;
}

static void fill_in_flight(struct Function *f, const struct Code *code,
                           const struct Latency *latency,
                           const struct Moment *at)
{
    // Suspended calls of which nothing is known any more have ended by then.
    if (latency && latency->cut_ticks &&
        at->ticks - latency->cut_ticks <
            2 * Counter_get(&latency->longest) + (uint64_t)at->hz)
        return;
    if (code->hot.dark || code->cold.generator ||
        Code_arming(code) == ARMED_SLICES || Code_arming(code) == ARMED_HOT)
        return;
    f->in_flight = 0;
    if (!latency || latency->look != at->registry->latencies.look ||
        !latency->in_flight)
        return;
    f->in_flight = latency->in_flight;
    f->oldest_s =
        fmax((double)(int64_t)(at->ticks - latency->oldest) / at->hz, 0);
}

void LatencyRow_fill(struct Function *f, struct Code *code,
                     const struct Moment *at)
{
    // This load pairs with the release in latency.c.
    struct Latency *latency =
        atomic_load_explicit(&code->cold.latency, memory_order_acquire);
    double calls;

    f->wall_p50_s = f->wall_p99_s = f->wall_max_s = NAN;
    f->oldest_s = f->await_s = NAN;
    f->in_flight = NULL_U64;
    fill_in_flight(f, code, latency, at);
    if (!latency)
        return;
    latency->shown = f->in_flight != NULL_U64 && f->in_flight > 0;
    calls = (double)Counter_get(&latency->calls);
    if (calls == 0)
        return;
    fill_quantiles(f, latency, at->hz);
    f->wall_max_s = (double)Counter_get(&latency->longest) / at->hz;
    if (code->hot.enter_hook == HOOK_RESUME)
        f->await_s = ((double)Counter_get(&latency->wall) -
                      (double)Counter_get(&latency->ran)) /
                     calls / at->hz;
}

bool LatencyRow_changes(const struct Code *code)
{
    return Code_latency(code) && Code_latency(code)->shown;
}
