// SPDX-License-Identifier: MIT
#include "tracer/session/process_rows.h"
#include "ipc/base/now.h"
#include "tracer/base/rcu.h"
#include "tracer/session/exception_rows.h"
#include "tracer/session/loop_rows.h"
#include "tracer/session/session.h"
#include "tracer/session/settings.h"
#include "tracer/session/threads.h"

#include <time.h>
#include <unistd.h>

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

static void fill_process(struct Snapshot *snapshot, const struct Engine *engine)
{
    snapshot->schema = 1;
    snapshot->pid = (uint64_t)getpid();
    snapshot->command = Snapshot_text(snapshot, engine->command);
    snapshot->python = Snapshot_text(snapshot, engine->python);
}

struct Moment ProcessRows_moment(struct Session *session,
                                 struct ShareTime *sampled)
{
    struct Engine *engine = session->engine;
    struct Moment at = {
        .session = session,
        .registry = engine->registry,
        .exceptions = &engine->exceptions,
        .start_ticks = session->start_ticks,
        .started = session->account.wall,
        .now = Now_s(CLOCK_MONOTONIC),
        .hz = Clock_hz(&engine->clock),
        .cost = engine->traces.cost,
        .ticks = Clock_read(&engine->clock),
        .cpu_ns = Now_ns(CLOCK_PROCESS_CPUTIME_ID),
        .sees = session->sampler && !Sampler_is_denied(session->sampler),
    };

    if (session->sampler) {
        *sampled = Sampler_now(session->sampler);
        at.sampled = sampled;
        at.waits = at.sees && Sampler_knows_waits(session->sampler);
        at.ready = Sampler_knows_ready(session->sampler);
    }
    return at;
}

// Fills in the CPU time of asyncio's tasks.
static void fill_tasks(struct Snapshot *snapshot, struct Sampler *sampler)
{
    // The groups may be changed, because no other thread has the snapshot yet.
    struct TaskGroup *groups = (void *)(uintptr_t)snapshot->tasks_groups;

    for (size_t i = 0; i < snapshot->tasks_group_count; i++)
        if (groups[i].id != NULL_U64)
            groups[i].cpu_share =
                Sampler_task_share(sampler, (uint32_t)groups[i].id);
}

// Sets the name and the file of one function on a stack. If the function's code
// object was freed, only its id is known.
static void name_place(struct Snapshot *snapshot, struct StackPlace *place,
                       struct Registry *registry)
{
    const struct Code *code;

    Rcu_read_lock();
    code = Registry_by_id(registry, (uint32_t)place->id);
    if (code) {
        place->name = Snapshot_text(snapshot, code->who.name);
        place->file = Snapshot_text(snapshot, code->who.file);
    }
    Rcu_read_unlock();
}

// Fills in the shares of time with the GIL, and the stack of the longest hold
// of the GIL.
static void fill_gil(struct Snapshot *snapshot, struct Sampler *sampler,
                     struct Registry *registry)
{
    struct GilFigures figures;
    struct StackPlace *places;

    Sampler_gil(sampler, &figures);
    snapshot->gil_held = figures.held;
    snapshot->gil_waited = figures.waited;
    snapshot->gil_held_s = figures.held_s;
    snapshot->gil_waited_s = figures.waited_s;
    snapshot->gil_longest_s = figures.longest_s;
    snapshot->cpu_waited = figures.starved;
    if (!figures.depth)
        return;
    places = Snapshot_alloc(snapshot, figures.depth * sizeof *places);
    for (size_t i = 0; places && i < figures.depth; i++) {
        const struct PlaceInCode *from = &figures.frames[i];

        places[i] = (struct StackPlace){
            .id = from->id, .line = from->line ? from->line : NULL_U64};
        name_place(snapshot, &places[i], registry);
    }
    snapshot->gil_longest = places;
    snapshot->gil_longest_count = places ? figures.depth : 0;
}

// Adds one row for each generation of the garbage collector, and the pauses as
// a fraction of one core's wall-clock time.
static void fill_garbage(struct Snapshot *snapshot, const struct Moment *at)
{
    struct Garbage *garbage = &at->session->engine->garbage;
    struct GarbageRow *rows =
        Snapshot_alloc(snapshot, GARBAGE_GENERATIONS * sizeof *rows);

    if (!rows)
        return;
    for (int i = 0; i < GARBAGE_GENERATIONS; i++) {
        const struct GarbageGeneration *counted = &garbage->generations[i];

        rows[i] = (struct GarbageRow){NULL_U64, NULL_F64, NULL_F64};
        if (Counter_get(&garbage->known))
            rows[i] = (struct GarbageRow){
                Counter_get(&counted->collections),
                (double)Counter_get(&counted->ticks) / at->hz,
                (double)Counter_get(&counted->longest) / at->hz,
            };
    }
    snapshot->gc_share = Garbage_share(garbage, at->now, at->hz);
    snapshot->gc_generations = rows;
    snapshot->gc_generation_count = GARBAGE_GENERATIONS;
}

void ProcessRows_fill(struct Snapshot *snapshot, const struct Moment *at)
{
    struct Session *session = at->session;
    struct Engine *engine = session->engine;

    fill_process(snapshot, engine);
    // CLOCK_MONOTONIC is used, because the time stamp counter may begin again
    // at 0 after a suspension.
    snapshot->uptime_s = at->now - at->started;
    snapshot->tsc_hz = at->hz;
    Settings_fill(snapshot, session);
    ExceptionRows_fill(snapshot, &session->exception_rates, at);
    if (session->sampler)
        fill_sampler(snapshot, at);
    snapshot->sampler_trouble =
        Snapshot_text(snapshot, Session_sampler_trouble(session));
    Threads_fill(snapshot, at->sees ? session->sampler : NULL, &engine->traces);
    TaskBoard_fill(&session->tasks, snapshot);
    ObjectBoard_fill(&session->objects, snapshot, engine);
    LineRows_fill(&session->lines, snapshot, at);
    fill_garbage(snapshot, at);
    if (at->sees) {
        fill_tasks(snapshot, session->sampler);
        fill_gil(snapshot, session->sampler, at->registry);
    }
    LoopRows_fill(snapshot, &engine->loops, at->now, at->started);
    fill_overhead(snapshot, session);
}
