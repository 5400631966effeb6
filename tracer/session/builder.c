// SPDX-License-Identifier: MIT
// Turns counters into a snapshot: reads the registry inside an RCU read
// section, sorts functions by share, and adds what is known of the whole.
#define _GNU_SOURCE 1 // qsort_r
#include "tracer/session/builder.h"
#include "ipc/base/now.h"
#include "ipc/version.h"
#include "tracer/base/rcu.h"
#include "tracer/session/function_row.h"
#include "tracer/session/ranking.h"
#include "tracer/session/session.h"
#include "tracer/session/threads.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// The order of functions, as in tui/model/row_order.c; idle, as Row_is_idle.
#define IDLE_S 60.0        // not called for so long, and without a share: idle
#define IDLE_SHARE 0.0005  // of time on a stack
#define LEAST_SAMPLES 0.25 // what a sample as old as the window still counts

// The larger number first, null as nothing.
static int larger_first(uint64_t a, uint64_t b)
{
    a = a == NULL_U64 ? 0 : a;
    b = b == NULL_U64 ? 0 : b;
    return (a < b) - (a > b);
}

static int more_first(double a, double b)
{
    a = isnan(a) ? 0 : a;
    b = isnan(b) ? 0 : b;
    return (a < b) - (a > b);
}

// Not called in the last minute and in no sample, neither running nor waiting,
// nor anything that it called.
static bool is_idle(const struct Function *f, double least)
{
    if (f->age_s <= IDLE_S)
        return false;
    if (isnan(f->share)) // hooks alone know it, where there are some
        return f->state == STATE_ARMED;
    return f->share < least && !(f->total_share >= IDLE_SHARE);
}

// By share, then what its recent calls take, then self cycles; what is idle is
// last. Shares below *context are remains of samples that the window has
// forgotten.
static int hotter_first(const void *left, const void *right, void *context)
{
    const struct Function *a = left, *b = right;
    double least = *(const double *)context;
    int order = is_idle(a, least) - is_idle(b, least);

    if (!order)
        order = more_first(a->share < least ? 0 : a->share,
                           b->share < least ? 0 : b->share);
    if (!order)
        order = more_first(a->calls_per_s * a->avg_cycles,
                           b->calls_per_s * b->avg_cycles);
    if (!order)
        order = larger_first(a->self_cycles, b->self_cycles);
    return order ? order : (a->id > b->id) - (a->id < b->id);
}

// The share of so little of a sample that the window has forgotten it.
static double least_share(const struct Function *functions, size_t count,
                          const struct Moment *at)
{
    struct SamplerTotals totals;
    double all = 0;
    size_t i;

    if (!at->sees)
        return 0;
    Sampler_totals(at->session->sampler, &totals);
    for (i = 0; i < count; i++)
        all += isnan(functions[i].cpu_share) ? 0 : functions[i].cpu_share;
    return totals.window_samples > 0
               ? LEAST_SAMPLES * all / totals.window_samples
               : 0;
}

// Gone, and not among the retired functions yet.
static size_t count_waiting(struct Registry *registry)
{
    const struct Code *code = Registry_retired(registry);
    size_t count = 0;

    for (; code; code = code->node.next_retired)
        count++;
    return count;
}

struct Rows {
    struct Snapshot *snapshot;
    struct Function *functions;
    size_t count, room;
    uint64_t number; // of the snapshot
    uint32_t newest; // id that has a row
    bool whole;
};

// Also what is only a caller of others, such as Thread.run of a thread that was
// there before us: their rows name it.
static bool is_listed(const struct Code *code)
{
    return Code_was_seen(code) || Counter_get(&code->share.cumulative.total_ns);
}

static void add_row(struct Rows *rows, struct Code *code,
                    const struct Moment *at)
{
    if (code->row.shown == rows->number || rows->count == rows->room ||
        Code_is_after(code, rows->newest) || !is_listed(code))
        return;
    code->row.shown = rows->number;
    rows->whole &= FunctionRow_fill(rows->snapshot,
                                    &rows->functions[rows->count++], code, at);
}

// Code may come and go while rows are made. What came before has a row, also if
// it goes meanwhile; what comes later has to wait.
static bool fill_functions(struct Snapshot *snapshot, const struct Moment *at)
{
    struct Registry *registry = at->session->engine->registry;
    struct Rows rows = {.snapshot = snapshot,
                        .newest = Registry_newest_id(registry),
                        .number = ++at->session->snapshots,
                        .whole = true};
    struct Code *code;
    double least;

    // In this order: what goes in between is counted twice, and not never.
    rows.room = Registry_count(registry) + count_waiting(registry) + 1;
    rows.functions =
        Snapshot_alloc(snapshot, rows.room * sizeof(*rows.functions));
    if (!rows.functions)
        return false;
    Rcu_read_lock();
    for (code = Registry_first(registry);
         code && !Code_is_after(code, rows.newest); code = Registry_next(code))
        add_row(&rows, code, at);
    // Before the retired: the next moment it is one of them.
    code = Registry_leaving(registry);
    if (code)
        add_row(&rows, code, at);
    for (code = Registry_retired(registry); code;
         code = code->node.next_retired)
        add_row(&rows, code, at);
    Rcu_read_unlock();
    least = least_share(rows.functions, rows.count, at);
    qsort_r(rows.functions, rows.count, sizeof *rows.functions, hotter_first,
            &least);
    snapshot->functions = rows.functions;
    snapshot->function_count = rows.count;
    snapshot->functions_total = rows.count;
    return rows.whole;
}

static bool fill_retired_row(struct Snapshot *snapshot, struct RetiredRow *row,
                             const struct RetiredTotals *totals,
                             const struct Moment *at)
{
    bool sampled = at->sampled && at->sampled->ns > 0;

    row->line = NULL_U64;
    row->objects = totals->objects;
    row->calls = totals->calls;
    row->resumptions = totals->resumed;
    row->calls_exact = !totals->inexact;
    row->self_cycles = totals->self_calls ? totals->self_cycles : NULL_U64;
    row->waited_cycles = totals->self_calls ? totals->waited_cycles : NULL_U64;
    row->total_cycles = totals->self_calls || totals->total_cycles
                            ? totals->total_cycles
                            : NULL_U64;
    row->run_share = sampled ? (double)totals->cpu_ns / at->sampled->ns : NAN;
    row->samples = sampled ? totals->samples : NULL_U64;
    row->run_samples = sampled ? totals->run_samples : NULL_U64;
    row->name = Snapshot_text(snapshot, "(others)");
    return row->name;
}

static int costlier_first(const void *left, const void *right)
{
    const struct Ranked a = {.retired = left}, b = {.retired = right};

    return Ranking_compare(&a, &b);
}

// The costliest first, the others last.
static bool fill_retired(struct Snapshot *snapshot, const struct Moment *at)
{
    const struct Retired *retired = &at->session->retired;
    struct RetiredRow *rows =
        Snapshot_alloc(snapshot, (retired->count + 1) * sizeof *rows);
    bool whole = rows;
    size_t i;

    for (i = 0; whole && i < retired->count; i++) {
        const struct RetiredFunction *function = &retired->functions[i];

        whole = fill_retired_row(snapshot, &rows[i], &function->totals, at);
        rows[i].name = Snapshot_text(snapshot, function->name);
        rows[i].file = Snapshot_text(snapshot, function->file);
        rows[i].line = function->line;
        whole &= rows[i].name && rows[i].file;
    }
    if (!whole)
        return false;
    qsort(rows, i, sizeof *rows, costlier_first);
    if (retired->others.objects)
        whole = fill_retired_row(snapshot, &rows[i++], &retired->others, at);
    snapshot->retired = rows;
    snapshot->retired_count = i;
    snapshot->events += retired->events;
    return whole;
}

static void fill_overhead(struct Snapshot *snapshot, struct Session *session)
{
    const struct Budget *budget = Account_open(&session->account);
    struct BudgetShares shares = Budget_window(budget);

    snapshot->overhead_measured = shares.measured;
    snapshot->overhead_hooks = shares.hooks;
    snapshot->overhead_rearm = shares.rearm;
    snapshot->overhead_threads = shares.threads;
    snapshot->overhead_budget = budget->share;
    snapshot->overhead_allowed = shares.allowed;
    snapshot->overhead_mean = Budget_mean(budget);
    snapshot->overhead_cores = shares.cores;
    snapshot->overhead_cores_allowed = shares.cores_allowed;
    Account_close(&session->account);
}

static void fill_sampler(struct Snapshot *snapshot, const struct Moment *at)
{
    struct SamplerTotals totals;

    Sampler_totals(at->session->sampler, &totals);
    snapshot->sampler_samples = totals.samples;
    snapshot->sampler_unknown = totals.unknown;
    snapshot->sampler_truncated = totals.truncated;
    snapshot->sampler_signal =
        totals.signal ? (uint64_t)totals.signal : NULL_U64;
    snapshot->sampler_lost = totals.lost;
    snapshot->sampler_in_hooks = totals.ours;
    snapshot->sampler_untimed = totals.untimed;
    if (!at->sees)
        return;
    snapshot->sampler_hz = totals.hz;
    snapshot->sampler_window_s = totals.window_s;
    snapshot->sampler_window_samples = totals.window_samples;
    snapshot->sampler_elsewhere = totals.elsewhere;
}

static uint64_t memory_of(struct Session *session,
                          const struct Snapshot *snapshot,
                          const struct ThreadTotals *totals)
{
    return atomic_load_explicit(&session->engine->registry->bytes,
                                memory_order_relaxed) +
           sizeof *session->engine->registry + sizeof *session +
           session->retired.bytes + Names_bytes(&session->engine->names) +
           totals->bytes +
           (session->timeline ? Timeline_bytes(session->timeline) : 0) +
           (session->engine->rearmed ? RING_EVENTS * sizeof(struct Event) : 0) +
           sizeof session->transitions + Details_bytes(&session->details) +
           Transitions_bytes(&session->transitions) + Snapshot_bytes(snapshot) +
           Publish_bytes(&session->publish);
}

struct Snapshot *Builder_snapshot(struct Session *session)
{
    struct Engine *engine = session->engine;
    struct ThreadTotals totals = ThreadTraces_sum(&engine->traces);
    struct Snapshot *snapshot = Publish_blank(&session->publish);
    struct ShareTime sampled;
    struct Moment at = {
        .session = session,
        .now = Now_s(CLOCK_MONOTONIC),
        .hz = Clock_hz(&engine->clock),
        .ticks = Clock_read(&engine->clock),
        .sees = session->sampler && !Sampler_is_denied(session->sampler),
    };
    const char *trouble = Session_sampler_trouble(session);
    bool whole;

    if (!snapshot)
        return NULL;
    if (session->sampler) {
        sampled = Sampler_now(session->sampler);
        at.sampled = &sampled;
    }
    at.started = session->account.wall;
    snapshot->schema = 1;
    snapshot->version = OCULAR_VERSION;
    snapshot->pid = (uint64_t)getpid();
    snapshot->command = Snapshot_text(snapshot, engine->command);
    snapshot->python = Snapshot_text(snapshot, engine->python);
    snapshot->mode = Snapshot_text(snapshot, session->config.mode);
    snapshot->threshold = session->config.threshold;
    // Not by the counter, which may start anew where the machine sleeps.
    snapshot->uptime_s = at.now - at.started;
    snapshot->tsc_hz = at.hz;
    snapshot->lost = totals.lost;
    snapshot->events = snapshot->memory_bytes = 0;
    snapshot->sites_armed = snapshot->sites_dark = 0;
    snapshot->states_armed = snapshot->states_partial = 0;
    snapshot->states_dark = 0;
    whole = fill_functions(snapshot, &at) && fill_retired(snapshot, &at);
    if (session->sampler)
        fill_sampler(snapshot, &at);
    if (trouble)
        whole &= (snapshot->sampler_trouble =
                      Snapshot_text(snapshot, trouble)) != NULL;
    whole &= Threads_fill(snapshot, at.sees ? session->sampler : NULL,
                          &engine->traces);
    whole &= Transitions_fill(&session->transitions, snapshot);
    fill_overhead(snapshot, session);
    snapshot->memory_bytes += memory_of(session, snapshot, &totals);
    if (whole)
        return snapshot;
    Snapshot_free(snapshot);
    return NULL;
}
