// SPDX-License-Identifier: MIT
// Turns cells into a snapshot: reads the registry inside an RCU read section,
// computes what is a difference or a ratio, sorts by share.
#define _GNU_SOURCE 1 // qsort_r
#include "tracer/session/builder.h"
#include "ipc/base/now.h"
#include "ipc/version.h"
#include "tracer/base/rcu.h"
#include "tracer/code/means.h"
#include "tracer/sample/split.h"
#include "tracer/session/ranking.h"
#include "tracer/session/session.h"
#include "tracer/session/threads.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RATE_WINDOW 0.5 // s, the least span a rate is taken over

// The order of functions, as in tui/model/row.c.
#define IDLE_S 60.0        // not called for so long, and without a share: idle
#define IDLE_SHARE 0.0005  // of time on a stack
#define LEAST_SAMPLES 0.25 // what a sample as old as the window still counts

static const double QUANTILES[] = {0.5, 0.99};

// What the functions' figures are computed with.
struct Moment {
    struct Session *session;
    double now;                      // s of CLOCK_MONOTONIC
    double started;                  // the same, when the trace began
    double hz;                       // ticks a second
    uint64_t ticks;                  // now
    const struct ShareTime *sampled; // NULL without a sampler
    bool sees;                       // there is one, and it can read
};

static void fill_shares(struct Function *f, const struct Code *code,
                        const struct Moment *at)
{
    if (!at->sampled)
        return;
    f->run_share = ShareValue_total(&code->share.cpu, at->sampled);
    f->samples = Cell_get(&code->share.samples);
    f->run_samples = Cell_get(&code->share.run_samples);
    if (!at->sees) // of lately nothing is known
        return;
    f->cpu_share = ShareValue_window(&code->share.cpu, at->sampled);
    f->share = f->cpu_share;
    f->wait_share = ShareValue_window(&code->share.wait, at->sampled);
    f->total_share = ShareValue_window(&code->share.under, at->sampled);
    f->c_share = ShareValue_window(&code->share.in_c, at->sampled);
}

// Who its time is for; those that have gone are among the others (a null id).
static bool fill_callers(struct Snapshot *snapshot, struct Function *f,
                         const struct Code *code, const struct Moment *at)
{
    // Pairs with the release in subject.c.
    const struct Split *split =
        atomic_load_explicit(&code->share.callers, memory_order_acquire);
    struct SplitRow rows[SPLIT_ROWS];
    size_t count, i;
    struct Caller *callers;

    if (!at->sees || !split)
        return true;
    count = Split_read(split, at->sampled, rows);
    if (count == 0)
        return true;
    callers = Snapshot_alloc(snapshot, count * sizeof *callers);
    for (i = 0; callers && i < count; i++)
        callers[i] =
            (struct Caller){rows[i].id ? rows[i].id : NULL_U64, rows[i].share};
    f->callers = callers;
    f->caller_count = callers ? count : 0;
    return callers;
}

// Most functions are dark, and have the quantiles that they had: to read a
// histogram takes longer than all else in a row. A call is counted a moment
// before it is in there, so they are read once more before they are believed.
static void fill_quantiles(struct Function *f, struct Code *code)
{
    // Pairs with the release in Lane_record_first.
    const struct Histogram *histogram =
        atomic_load_explicit(&code->histogram, memory_order_acquire);
    uint64_t calls = Cell_get(&code->self_calls);
    bool same = calls == code->quantiles_calls;
    double quantiles[2];

    if (!histogram)
        return;
    if (!same || !code->quantiles_settled) {
        Histogram_quantiles(histogram, QUANTILES, quantiles, 2);
        code->p50_cycles = quantiles[0];
        code->p99_cycles = quantiles[1];
        code->quantiles_calls = calls;
        code->quantiles_settled = same;
    }
    f->p50_cycles = code->p50_cycles;
    f->p99_cycles = code->p99_cycles;
}

static void fill_cycles(struct Function *f, struct Code *code)
{
    uint64_t calls = Cell_get(&code->self_calls);
    uint64_t least = Cell_get(&code->min_cycles);

    f->self_cycles = f->total_cycles = f->waited_cycles = NULL_U64;
    f->avg_estimated = !calls;
    // A call that always has a dark callee has a total, and nothing of its own.
    if (calls || Cell_get(&code->total_cycles))
        f->total_cycles = Cell_cycles(&code->total_cycles);
    if (!calls) {
        f->avg_cycles =
            Code_sampled_cycles(code, Cell_get(&code->share.cpu.total_ns));
        return;
    }
    f->self_cycles = Cell_cycles(&code->self_cycles);
    f->waited_cycles = Cell_get(&code->waited_cycles);
    f->avg_cycles = Code_self_mean(code);
    if (least != UINT64_MAX)
        f->min_cycles = (double)least;
    fill_quantiles(f, code);
}

// Has it been dark at any time since its rate was last taken?
static bool was_dark(const struct Code *code)
{
    return code->dark || code->rate_dark ||
           atomic_load_explicit(&code->dark_times, memory_order_relaxed) !=
               code->rate_dark_times;
}

// From now on its calls are counted for the next rate.
static void begin_rate(struct Code *code, const struct Moment *at)
{
    code->rate_calls = Cell_get(&code->calls);
    code->rate_at = at->now;
    code->rate_dark = code->dark;
    code->rate_dark_times =
        atomic_load_explicit(&code->dark_times, memory_order_relaxed);
}

// The share that Code_mean_cycles is to be held against.
static double busy_share(const struct Code *code, const struct Moment *at)
{
    double wait = ShareValue_window(&code->share.wait, at->sampled);
    double queued = ShareValue_window(&code->share.queued, at->sampled);

    return ShareValue_window(&code->share.cpu, at->sampled) +
           fmax(wait - queued, 0);
}

// Calls a second: counted where it was armed all the time; else from sampled
// time over the cost of a call, armed or dark (design: never from "hits until
// dark").
static void fill_rates(struct Function *f, struct Code *code,
                       const struct Moment *at)
{
    double mean = Code_mean_cycles(code) / at->hz * 1e9; // ns a call
    bool sampled = at->sees && mean > 0;
    double since;

    if (code->rate_at == 0)
        code->rate_at = at->started;
    since = at->now - code->rate_at;
    if (was_dark(code)) {
        code->rate = sampled ? busy_share(code, at) * 1e9 / mean : NAN;
        code->rate_estimated = true;
        begin_rate(code, at);
    } else if (since >= RATE_WINDOW) {
        code->rate = (double)(f->calls - code->rate_calls) / since;
        code->rate_estimated = false;
        begin_rate(code, at);
    }
    f->calls_per_s = code->rate;
    f->rate_estimated = code->rate_estimated;
    f->calls_estimated = (double)f->calls + code->dark_calls;
    if (code->dark)
        f->calls_estimated += at->sees && Cell_get(&code->share.samples)
                                  ? Code_dark_calls(code, at->hz)
                                  : NAN;
}

static uint64_t state_of(const struct Code *code, uint64_t sites, uint64_t dark)
{
    if (!dark && !code->dark)
        return STATE_ARMED;
    return dark == sites ? STATE_DARK : STATE_PARTIAL;
}

// s since the newest hit. Where calls are seen and none of them can be timed,
// as something that they call is dark, it is the newest that could be that
// counts.
static double age_of(const struct Code *code, const struct Moment *at)
{
    uint64_t seen = Cell_get(&code->last_seen);
    uint64_t timed = Cell_get(&code->timed_ticks);

    if (!seen)
        return NAN;
    if (timed && timed < seen && Cell_get(&code->self_calls) &&
        Code_dark_callees(code))
        seen = timed;
    return fmax((double)(int64_t)(at->ticks - seen) / at->hz, 0);
}

static bool fill_function(struct Snapshot *snapshot, struct Function *f,
                          struct Code *code, const struct Moment *at)
{
    // Beside what Registry.bytes holds.
    snapshot->memory_bytes +=
        Cell_get(&code->grown_bytes) + Cell_get(&code->share.bytes);
    uint32_t specializable =
        atomic_load_explicit(&code->specializable, memory_order_relaxed);

    f->id = code->id;
    f->name = Snapshot_text(snapshot, code->name);
    f->file = Snapshot_text(snapshot, code->file);
    f->line = code->line;
    f->calls = Cell_get(&code->calls);
    f->calls_exact = code->calls_exact;
    f->c_share = f->min_cycles = f->avg_cycles = NAN;
    f->p50_cycles = f->p99_cycles = NAN;
    f->share = f->cpu_share = f->wait_share = f->total_share = NAN;
    f->run_share = f->calls_per_s = NAN;
    f->samples = f->run_samples = NULL_U64;
    fill_shares(f, code, at);
    fill_cycles(f, code);
    fill_rates(f, code, at);
    Code_count_sites(code, &f->sites, &f->dark_sites);
    f->state = state_of(code, f->sites, f->dark_sites);
    f->age_s = age_of(code, at);
    f->specializable_sites =
        specializable == UINT32_MAX ? NULL_U64 : specializable;
    f->specialized_sites =
        specializable == UINT32_MAX
            ? NULL_U64
            : atomic_load_explicit(&code->specialized, memory_order_relaxed);
    snapshot->events += Code_events(code);
    snapshot->sites_dark += f->dark_sites;
    snapshot->sites_armed += f->sites - f->dark_sites;
    snapshot->states_armed += f->state == STATE_ARMED;
    snapshot->states_partial += f->state == STATE_PARTIAL;
    snapshot->states_dark += f->state == STATE_DARK;
    return f->name && f->file && fill_callers(snapshot, f, code, at);
}

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

    for (; code; code = code->next_retired)
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

static void add_row(struct Rows *rows, struct Code *code,
                    const struct Moment *at)
{
    if (code->shown == rows->number || rows->count == rows->room ||
        Code_is_after(code, rows->newest) || !Code_was_seen(code))
        return;
    code->shown = rows->number;
    rows->whole &= fill_function(rows->snapshot,
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
    for (code = Registry_retired(registry); code; code = code->next_retired)
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
                          const struct LanesTotals *totals)
{
    return atomic_load_explicit(&session->engine->registry->bytes,
                                memory_order_relaxed) +
           sizeof *session->engine->registry + sizeof *session +
           session->retired.bytes + Names_bytes(&session->engine->names) +
           totals->bytes +
           (session->timeline ? Timeline_bytes(session->timeline) : 0) +
           sizeof session->transitions + Details_bytes(&session->details) +
           Transitions_bytes(&session->transitions) + Snapshot_bytes(snapshot) +
           Publish_bytes(&session->publish);
}

struct Snapshot *Builder_snapshot(struct Session *session)
{
    struct Engine *engine = session->engine;
    struct LanesTotals totals = Lanes_sum(&engine->lanes);
    struct Snapshot *snapshot = Publish_blank(&session->publish);
    struct ShareTime sampled;
    struct Moment at = {
        .session = session,
        .now = Now_s(CLOCK_MONOTONIC),
        .hz = Clock_hz(&engine->clock),
        .ticks = Clock_read(&engine->clock),
        .sees = session->sampler && !Sampler_is_blind(session->sampler),
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
                          &engine->lanes);
    whole &= Transitions_fill(&session->transitions, snapshot);
    fill_overhead(snapshot, session);
    snapshot->memory_bytes += memory_of(session, snapshot, &totals);
    if (whole)
        return snapshot;
    Snapshot_free(snapshot);
    return NULL;
}
