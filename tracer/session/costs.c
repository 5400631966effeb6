// SPDX-License-Identifier: MIT
#include "tracer/session/costs.h"

#include <math.h>

// A garbage collection costs two hooks and this number of seconds, in which
// CPython calls Ocular's functions before and after it.
#define GARBAGE_S 1e-6

static double worker_s(const struct Worker *worker)
{
    return (double)Worker_cpu_ns(worker) / 1e9;
}

// A step is a callback of an event loop. Returns the ticks of all hooks at
// steps, including hooks that begin no step. Hooks at steps write no hit, so
// they cost no more than the hooks of a call.
static int64_t step_ticks(struct Engine *engine)
{
    const int64_t *cost = engine->traces.cost;

    return (int64_t)Counter_get(&engine->loops.hooks) *
           (cost[HOOK_ENTER] + cost[HOOK_LEAVE]) / 2;
}

// Reads the time that hooks would have taken with warm caches, and the time of
// slow hooks, which is measured.
static void read_hooks(struct Engine *engine, struct BudgetReading *reading)
{
    struct ThreadTotals totals = ThreadTraces_sum(&engine->traces);
    int64_t ticks =
        (int64_t)(totals.overhead - totals.paid) + step_ticks(engine);

    // The sum of the hooks' costs may be some ns below 0, because the measured
    // cost of a kind of hook may be negative.
    reading->hooks =
        fmax((double)ticks, 0) / Clock_hz(&engine->clock) +
        EXCEPTION_S * (double)Counter_get(&engine->exceptions.events);
    reading->paid = (double)totals.paid / Clock_hz(&engine->clock);
}

static void read_costs(void *context, struct BudgetReading *reading)
{
    struct Session *session = context;
    struct SamplerTotals sampler = {0};

    if (session->sampler)
        Sampler_totals(session->sampler, &sampler);
    read_hooks(session->engine, reading);
    reading->rearm = worker_s(&session->governor);
    reading->sampling = sampler.handlers_s;
    reading->found = sampler.ours_s;
    reading->samples = sampler.taken;
    reading->threads = sampler.handlers_s + sampler.cpu_s +
                       worker_s(&session->collector.worker);
    reading->threads += (double)Counter_get(&session->forks_ns) / 1e9;
    reading->threads +=
        GARBAGE_S * (double)Garbage_collections(&session->engine->garbage);
    reading->threads += Counter_get_double(&session->engine->objects_s);
    if (session->server)
        reading->threads +=
            (double)(Server_cpu_ns(session->server) - session->server_base_ns) /
            1e9;
}

void Costs_init(struct Session *session)
{
    const struct AccountSource source = {
        .context = session, .share = &session->budget, .read = read_costs};

    Account_init(&session->account, &source);
}
