// SPDX-License-Identifier: MIT
// The tables of the snapshot's schema, and the functions for a snapshot's
// memory. The wire format, the viewer's JSON, ocular.snapshot() and the merging
// of several processes read these tables.
#include "ipc/snapshot.h"

#include "ipc/base/heap.h"
#include "ipc/rows.h"

// --- The schema
// A new row must be the last one of its table, because the rows have the same
// order on the wire.

static const struct Field CALLER_FIELDS[] = {
    U64(Caller, id),
    F64(Caller, share),
};
static const struct Record CALLER_RECORD =
    RECORD(Caller, "caller", CALLER_FIELDS);

static const struct Field THREAD_FIELDS[] = {
    U64(Thread, tid),
    TEXT(Thread, name),
    F64(Thread, cpu_share),
    F64(Thread, wait_share),
    U64(Thread, samples),
    F64(Thread, cpu_s),
    BOOL(Thread, ended),
    LIST(Thread, functions, function_count, CALLER_RECORD),
    F64(Thread, gil_held_share),
    F64(Thread, gil_wait_share),
    F64(Thread, gil_held_s),
    F64(Thread, gil_wait_s),
};
static const struct Record THREAD_RECORD =
    RECORD(Thread, "thread", THREAD_FIELDS);

#define WAIT(s, member, kind, name)                                            \
    ROW(FIELD_F64, s, member[WAITS_##kind], NULL, name)
#define WAITS(s, member)                                                       \
    WAIT(s, member, SOCKET, "socket"), WAIT(s, member, FILE, "file"),          \
        WAIT(s, member, LOCK, "lock"), WAIT(s, member, SLEEP, "sleep"),        \
        WAIT(s, member, GIL, "gil"), WAIT(s, member, CPU, "cpu"),              \
        WAIT(s, member, IDLE, "idle"), WAIT(s, member, OTHER, "other")

static const struct Field WAITS_FIELDS[] = {WAITS(WaitShares, of)};
static const struct Record WAITS_RECORD =
    RECORD(WaitShares, "waits", WAITS_FIELDS);

static const struct Field PARTS_FIELDS[] = {
    F64(PartShares, c), F64(PartShares, gc), WAITS(PartShares, waits)};
static const struct Record PARTS_RECORD =
    RECORD(PartShares, "total_parts", PARTS_FIELDS);

#define BUCKET(at, bound)                                                      \
    ROW(FIELD_U64, LatencyCounts, of[at], "buckets", #bound)
static const struct Field LATENCY_FIELDS[] = {
    F64(LatencyCounts, sum_s), U64(LatencyCounts, missed),
    LATENCY_BOUNDS(BUCKET), BUCKET(LATENCY_BUCKETS - 1, +Inf)};
static const struct Record LATENCY_RECORD =
    RECORD(LatencyCounts, "latencies", LATENCY_FIELDS);

static const struct Field FUNCTION_FIELDS[] = {
    U64(Function, id, OWN),
    TEXT(Function, name, MERGE(KEY, ENDED)),
    TEXT(Function, file, MERGE(KEY, ENDED)),
    U64(Function, line, MERGE(KEY, ENDED)),
    U64(Function, calls, MERGE(SUM, ENDED)),
    BOOL(Function, calls_exact, MERGE(ALL, ENDED)),
    F64(Function, calls_estimated, OWN),
    F64(Function, calls_per_s, MERGE(SUM, LIVE)),
    F64(Function, share, MERGE(SUM, LIVE)),
    F64(Function, cpu_share, MERGE(SUM, LIVE)),
    F64(Function, wait_share, MERGE(SUM, LIVE)),
    F64(Function, c_share, MERGE(SUM, LIVE)),
    F64(Function, total_share, MERGE(SUM, LIVE)),
    F64(Function, run_share, MERGE(RUN, ENDED)),
    U64(Function, samples, MERGE(SUM, ENDED)),
    U64(Function, self_cycles, MERGE(SUM, ENDED)),
    U64(Function, total_cycles, MERGE(SUM, ENDED)),
    F64(Function, avg_cycles, MERGE(MEAN, SILENT)),
    F64(Function, min_cycles, MERGE(LEAST, ENDED)),
    F64(Function, p50_cycles, MERGE(MEDIAN, SILENT)),
    F64(Function, p99_cycles, MERGE(MOST, SILENT)),
    U64(Function, waited_cycles, MERGE(SUM, ENDED)),
    STATE(Function, state, OWN),
    F64(Function, age_s, MERGE(LEAST, SILENT)),
    U64(Function, sites, MERGE(SUM, SILENT)),
    U64(Function, dark_sites, MERGE(SUM, SILENT)),
    U64(Function, specialized_sites, MERGE(SUM, SILENT)),
    U64(Function, specializable_sites, MERGE(SUM, SILENT)),
    LIST(Function, callers, caller_count, CALLER_RECORD, OWN),
    BOOL(Function, avg_estimated, MERGE(ANY, SILENT)),
    BOOL(Function, rate_estimated, MERGE(ANY, LIVE)),
    U64(Function, run_samples, MERGE(SUM, ENDED)),
    F64(Function, calls_error, OWN),
    F64(Function, calls_per_s_error, MERGE(ROOT, LIVE)),
    U64(Function, resumptions, MERGE(SUM, ENDED)),
    F64(Function, missed_per_s, MERGE(SUM, LIVE)),
    F64(Function, wall_p50_s, MERGE(MEDIAN, SILENT)),
    F64(Function, wall_p99_s, MERGE(MOST, SILENT)),
    F64(Function, wall_max_s, MERGE(MOST, ENDED)),
    U64(Function, in_flight, MERGE(SUM, SILENT)),
    F64(Function, oldest_s, MERGE(AGED, SILENT)),
    F64(Function, await_s, MERGE(MEAN, SILENT)),
    F64(Function, gil_blocked_share, MERGE(SUM, LIVE)),
    F64(Function, gil_blocked_s, MERGE(SUM, ENDED)),
    U64(Function, raised, MERGE(SUM, ENDED)),
    BOOL(Function, raised_estimated, MERGE(ANY, ENDED)),
    BOOL(Function, in_flight_is_least, MERGE(ANY, SILENT)),
    OPTIONAL(Function, waits, wait_count, WAITS_RECORD, OWN),
    OPTIONAL(Function, total_parts, total_part_count, PARTS_RECORD, OWN),
    // The list is empty in the merged row, because ocular-top does not show it.
    OPTIONAL(Function, latencies, latency_count, LATENCY_RECORD, OWN),
};
const struct Record FUNCTION_RECORD =
    RECORD(Function, "function", FUNCTION_FIELDS);

static const struct Field TRANSITION_FIELDS[] = {
    F64(Transition, seen_at_s), TEXT(Transition, function),
    TEXT(Transition, file),     U64(Transition, line),
    U64(Transition, offset),    TEXT(Transition, from),
    TEXT(Transition, to),       BOOL(Transition, storm),
    U64(Transition, id),        BOOL(Transition, deopt),
};
static const struct Record TRANSITION_RECORD =
    RECORD(Transition, "transition", TRANSITION_FIELDS);

static const struct Field PAIR_FIELDS[] = {
    TEXT(TransitionPair, from, MERGE(KEY, ENDED)),
    TEXT(TransitionPair, to, MERGE(KEY, ENDED)),
    U64(TransitionPair, count, MERGE(SUM, ENDED)),
    BOOL(TransitionPair, deopt, MERGE(KEY, ENDED)),
};
static const struct Record PAIR_RECORD =
    RECORD(TransitionPair, "transition_pair", PAIR_FIELDS);

static const struct Field RETIRED_FIELDS[] = {
    TEXT(RetiredRow, name, MERGE(KEY, ENDED)),
    TEXT(RetiredRow, file, MERGE(KEY, ENDED)),
    U64(RetiredRow, line, MERGE(KEY, ENDED)),
    U64(RetiredRow, objects, MERGE(SUM, ENDED)),
    U64(RetiredRow, calls, MERGE(SUM, ENDED)),
    BOOL(RetiredRow, calls_exact, MERGE(ALL, ENDED)),
    U64(RetiredRow, self_cycles, MERGE(SUM, ENDED)),
    U64(RetiredRow, total_cycles, MERGE(SUM, ENDED)),
    U64(RetiredRow, waited_cycles, MERGE(SUM, ENDED)),
    F64(RetiredRow, run_share, MERGE(RUN, ENDED)),
    U64(RetiredRow, samples, MERGE(SUM, ENDED)),
    U64(RetiredRow, run_samples, MERGE(SUM, ENDED)),
    U64(RetiredRow, resumptions, MERGE(SUM, ENDED)),
};
static const struct Record RETIRED_RECORD =
    RECORD(RetiredRow, "retired", RETIRED_FIELDS);

static const struct Field GARBAGE_FIELDS[] = {
    U64(GarbageRow, collections, MERGE(SUM, ENDED)),
    F64(GarbageRow, total_s, MERGE(SUM, ENDED)),
    F64(GarbageRow, longest_s, MERGE(MOST, ENDED)),
};
static const struct Record GARBAGE_RECORD =
    RECORD(GarbageRow, "garbage", GARBAGE_FIELDS);

static const struct Field PLACE_FIELDS[] = {
    U64(StackPlace, id),
    TEXT(StackPlace, name),
    TEXT(StackPlace, file),
    U64(StackPlace, line),
};
static const struct Record PLACE_RECORD =
    RECORD(StackPlace, "place", PLACE_FIELDS);
static const struct Field EXCEPTION_FIELDS[] = {
    TEXT(ExceptionRow, type, MERGE(KEY, ENDED)),
    TEXT(ExceptionRow, function, MERGE(KEY, ENDED)),
    TEXT(ExceptionRow, file, MERGE(KEY, ENDED)),
    U64(ExceptionRow, line, MERGE(FIRST, ENDED)),
    U64(ExceptionRow, id, MERGE(ID, ENDED)),
    U64(ExceptionRow, raised, MERGE(SUM, ENDED)),
    U64(ExceptionRow, passed, MERGE(SUM, ENDED)),
    F64(ExceptionRow, error, OWN),
    F64(ExceptionRow, raised_per_s, MERGE(SUM, LIVE)),
    F64(ExceptionRow, passed_per_s, MERGE(SUM, LIVE)),
    F64(ExceptionRow, age_s, MERGE(LEAST, SILENT)),
    F64(ExceptionRow, first_s, OWN),
};
const struct Record EXCEPTION_RECORD =
    RECORD(ExceptionRow, "exception", EXCEPTION_FIELDS);

static const struct Field OBJECT_FIELDS[] = {
    TEXT(ObjectRow, type, MERGE(KEY, ENDED)),
    TEXT(ObjectRow, function, MERGE(KEY, ENDED)),
    TEXT(ObjectRow, file, MERGE(KEY, ENDED)),
    U64(ObjectRow, line, MERGE(KEY, ENDED)),
    U64(ObjectRow, id, MERGE(ID, ENDED)),
    F64(ObjectRow, born_per_s, MERGE(SUM, LIVE)),
    F64(ObjectRow, died_per_s, MERGE(SUM, LIVE)),
    F64(ObjectRow, net_per_s, MERGE(SUM, LIVE)),
    F64(ObjectRow, born_error, MERGE(ROOT, LIVE)),
    F64(ObjectRow, net_error, MERGE(ROOT, LIVE)),
    BOOL(ObjectRow, grows, MERGE(ANY, LIVE)),
    U64(ObjectRow, born, MERGE(SUM, ENDED)),
    U64(ObjectRow, died, MERGE(SUM, ENDED)),
};
const struct Record OBJECT_RECORD = RECORD(ObjectRow, "object", OBJECT_FIELDS);

static const struct Field LOOP_FIELDS[] = {
    TEXT(LoopRow, thread), F64(LoopRow, lag_s), F64(LoopRow, steps_per_s),
    U64(LoopRow, tid),     U64(LoopRow, steps), U64(LoopRow, timers),
    F64(LoopRow, late_s),
};
static const struct Record LOOP_RECORD = RECORD(LoopRow, "loop", LOOP_FIELDS);

static const struct Field STALL_FIELDS[] = {
    F64(StallRow, at_s),  F64(StallRow, seconds),   TEXT(StallRow, thread),
    TEXT(StallRow, task), TEXT(StallRow, function), TEXT(StallRow, file),
    U64(StallRow, line),  TEXT(StallRow, stack),    U64(StallRow, tid),
    U64(StallRow, id),    BOOL(StallRow, has_gil),
};
static const struct Record STALL_RECORD =
    RECORD(StallRow, "stall", STALL_FIELDS);

static const struct Field TASK_FIELDS[] = {
    TEXT(TaskRow, name),
    TEXT(TaskRow, state),
    F64(TaskRow, age_s),
    BOOL(TaskRow, age_is_least),
    TEXT(TaskRow, waits_for),
    TEXT(TaskRow, awaited_by),
    LIST(TaskRow, chain, chain_count, PLACE_RECORD),
    U64(TaskRow, steps),
    F64(TaskRow, cpu_share),
};
static const struct Record TASK_RECORD = RECORD(TaskRow, "task", TASK_FIELDS);

static const struct Field TASK_GROUP_FIELDS[] = {
    TEXT(TaskGroup, coroutine, MERGE(KEY, ENDED)),
    TEXT(TaskGroup, file, MERGE(KEY, ENDED)),
    U64(TaskGroup, line, MERGE(KEY, ENDED)),
    U64(TaskGroup, count, MERGE(SUM, SILENT)),
    F64(TaskGroup, growth_per_min, MERGE(SUM, LIVE)),
    F64(TaskGroup, oldest_s, MERGE(AGED, SILENT)),
    U64(TaskGroup, id, MERGE(ID, SILENT)),
    TEXT(TaskGroup, waits_in, OWN),
    TEXT(TaskGroup, wait_file, OWN),
    U64(TaskGroup, wait_line, OWN),
    U64(TaskGroup, wait_count, OWN),
    F64(TaskGroup, growing_s, MERGE(MOST, LIVE)),
    TEXT(TaskGroup, task, OWN),
    LIST(TaskGroup, chain, chain_count, PLACE_RECORD, OWN),
    BOOL(TaskGroup, oldest_is_least, MERGE(ANY, SILENT)),
    LIST(TaskGroup, tasks, task_count, TASK_RECORD, OWN),
    F64(TaskGroup, cpu_share, MERGE(SUM, LIVE)),
    F64(TaskGroup, steps_per_s, MERGE(SUM, LIVE)),
    BOOL(TaskGroup, count_is_least, MERGE(ANY, SILENT)),
};
static const struct Record TASK_GROUP_RECORD =
    RECORD(TaskGroup, "task_group", TASK_GROUP_FIELDS);

#define AWAIT(kind, name)                                                      \
    ROW(FIELD_F64, AwaitRow, of[AWAITS_##kind], NULL, name, MERGE(SUM, SILENT))

static const struct Field AWAIT_FIELDS[] = {
    U64(AwaitRow, id, MERGE(ID, SILENT)),
    TEXT(AwaitRow, name, MERGE(KEY, ENDED)),
    TEXT(AwaitRow, file, MERGE(KEY, ENDED)),
    U64(AwaitRow, line, MERGE(KEY, ENDED)),
    AWAIT(SLEEP, "sleep"),
    AWAIT(QUEUE, "queue"),
    AWAIT(LOCK, "lock"),
    AWAIT(SOCKET, "socket"),
    AWAIT(THREAD, "thread"),
    AWAIT(TASK, "task"),
    AWAIT(FUTURE, "future"),
    AWAIT(LOOP, "loop"),
    AWAIT(OTHER, "other"),
};
static const struct Record AWAIT_RECORD =
    RECORD(AwaitRow, "await", AWAIT_FIELDS);

static const struct Field RULE_FIELDS[] = {TEXT(FilterRule, text)};
const struct Record FILTER_RULE_RECORD =
    RECORD(FilterRule, "rule", RULE_FIELDS);

static const struct Field LINE_FIELDS[] = {
    TEXT(LineRow, file, MERGE(KEY, ENDED)),
    U64(LineRow, line, MERGE(KEY, ENDED)),
    TEXT(LineRow, function, MERGE(KEY, ENDED)),
    U64(LineRow, id, OWN),
    F64(LineRow, share, MERGE(SUM, LIVE)),
    U64(LineRow, samples, MERGE(SUM, ENDED)),
    U64(LineRow, hits, MERGE(SUM, ENDED)),
    BOOL(LineRow, hits_exact, MERGE(ALL, ENDED)),
    F64(LineRow, hits_per_s, MERGE(SUM, LIVE)),
};
const struct Record LINE_RECORD = RECORD(LineRow, "line", LINE_FIELDS);

static const struct Field SNAPSHOT_FIELDS[] = {
    U64(Snapshot, schema, MERGE(FIRST, ENDED)),
    TEXT(Snapshot, version, MERGE(SAME, ENDED)),
    U64(Snapshot, pid, OWN),
    TEXT(Snapshot, command, MERGE(FIRST, ENDED)),
    TEXT(Snapshot, python, MERGE(SAME, ENDED)),
    TEXT(Snapshot, mode, MERGE(SAME, ENDED)),
    U64(Snapshot, threshold, MERGE(SAME, ENDED)),
    F64(Snapshot, uptime_s, OWN),
    F64(Snapshot, tsc_hz, MERGE(FIRST, ENDED)),
    U64(Snapshot, events, MERGE(SUM, ENDED)),
    U64(Snapshot, lost, MERGE(SUM, ENDED)),
    U64(Snapshot, memory_bytes, MERGE(SUM, SILENT)),
    GROUP(F64, Snapshot, overhead, measured, MERGE(MEAN, LIVE)),
    GROUP(F64, Snapshot, overhead, budget, MERGE(SAME, SILENT)),
    GROUP(F64, Snapshot, overhead, hooks, MERGE(MEAN, LIVE)),
    GROUP(F64, Snapshot, overhead, rearm, MERGE(MEAN, LIVE)),
    GROUP(F64, Snapshot, overhead, threads, MERGE(MEAN, LIVE)),
    GROUP(U64, Snapshot, sites, armed, MERGE(SUM, SILENT)),
    GROUP(U64, Snapshot, sites, dark, MERGE(SUM, SILENT)),
    GROUP(F64, Snapshot, sampler, hz, MERGE(SUM, LIVE)),
    GROUP(U64, Snapshot, sampler, samples, MERGE(SUM, ENDED)),
    GROUP(U64, Snapshot, sampler, unknown, MERGE(SUM, ENDED)),
    GROUP(F64, Snapshot, sampler, elsewhere, MERGE(SUM, LIVE)),
    LIST(Snapshot, threads, thread_count, THREAD_RECORD, MERGE(JOIN, SILENT)),
    U64(Snapshot, functions_total, OWN),
    LIST(Snapshot, functions, function_count, FUNCTION_RECORD, OWN),
    LIST(Snapshot, transitions, transition_count, TRANSITION_RECORD,
         MERGE(JOIN, LIVE)),
    LIST(Snapshot, transition_pairs, transition_pair_count, PAIR_RECORD,
         MERGE(MATCH, ENDED)),
    LIST(Snapshot, retired, retired_count, RETIRED_RECORD, MERGE(MATCH, ENDED)),
    U64(Snapshot, threads_dropped, MERGE(SUM, ENDED)),
    GROUP(F64, Snapshot, overhead, allowed, MERGE(MEAN, LIVE)),
    GROUP(F64, Snapshot, overhead, mean, MERGE(MEAN, LIVE)),
    GROUP(U64, Snapshot, sampler, truncated, MERGE(SUM, ENDED)),
    GROUP(TEXT, Snapshot, sampler, trouble, MERGE(FIRST, SILENT)),
    GROUP(U64, Snapshot, states, armed, OWN),
    GROUP(U64, Snapshot, states, partial, OWN),
    GROUP(U64, Snapshot, states, dark, OWN),
    GROUP(F64, Snapshot, sampler, window_s, MERGE(MOST, LIVE)),
    GROUP(F64, Snapshot, sampler, window_samples, MERGE(SUM, LIVE)),
    GROUP(U64, Snapshot, sampler, signal, MERGE(SAME, SILENT)),
    GROUP(U64, Snapshot, sampler, lost, MERGE(SUM, ENDED)),
    GROUP(U64, Snapshot, sampler, in_hooks, MERGE(SUM, ENDED)),
    GROUP(U64, Snapshot, sampler, untimed, MERGE(SUM, SILENT)),
    GROUP(F64, Snapshot, overhead, cores, MERGE(SUM, LIVE)),
    GROUP(F64, Snapshot, overhead, cores_allowed, MERGE(SUM, LIVE)),
    GROUP(F64, Snapshot, gc, share, MERGE(SUM, LIVE)),
    GROUP_LIST(Snapshot, gc, generations, gc_generation_count, GARBAGE_RECORD,
               MERGE(MATCH, ENDED)),
    GROUP_LIST(Snapshot, filter, exclude, filter_exclude_count,
               FILTER_RULE_RECORD, OWN),
    GROUP_LIST(Snapshot, filter, include_only, filter_include_only_count,
               FILTER_RULE_RECORD, OWN),
    GROUP(F64, Snapshot, gil, held, MERGE(SUM, LIVE)),
    GROUP(F64, Snapshot, gil, waited, MERGE(SUM, LIVE)),
    GROUP(F64, Snapshot, gil, longest_s, MERGE(MOST, ENDED)),
    GROUP_LIST(Snapshot, gil, longest, gil_longest_count, PLACE_RECORD, OWN),
    GROUP(F64, Snapshot, gil, held_s, MERGE(SUM, ENDED)),
    GROUP(F64, Snapshot, gil, waited_s, MERGE(SUM, ENDED)),
    LIST(Snapshot, loops, loop_count, LOOP_RECORD, MERGE(JOIN, LIVE)),
    LIST(Snapshot, stalls, stall_count, STALL_RECORD, MERGE(JOIN, SILENT)),
    U64(Snapshot, stalls_total, MERGE(SUM, ENDED)),
    F64(Snapshot, stall_limit_s, MERGE(LEAST, SILENT)),
    GROUP(U64, Snapshot, tasks, total, MERGE(SUM, SILENT)),
    GROUP_LIST(Snapshot, tasks, groups, tasks_group_count, TASK_GROUP_RECORD,
               MERGE(MATCH, SILENT)),
    LIST(Snapshot, exceptions, exception_count, EXCEPTION_RECORD,
         MERGE(MATCH, ENDED)),
    GROUP(U64, Snapshot, exception_totals, raised, MERGE(SUM, ENDED)),
    GROUP(U64, Snapshot, exception_totals, passed, MERGE(SUM, ENDED)),
    GROUP(U64, Snapshot, exception_totals, control, MERGE(SUM, ENDED)),
    GROUP(BOOL, Snapshot, exception_totals, exact, MERGE(ALL, ENDED)),
    GROUP(F64, Snapshot, cpu, waited, MERGE(SUM, LIVE)),
    GROUP_LIST(Snapshot, tasks, awaits, tasks_await_count, AWAIT_RECORD,
               MERGE(MATCH, SILENT)),
    GROUP_LIST(Snapshot, tasks, places, tasks_place_count, TASK_GROUP_RECORD,
               MERGE(MATCH, SILENT)),
    GROUP(TEXT, Snapshot, objects, trouble, MERGE(FIRST, SILENT)),
    GROUP(F64, Snapshot, objects, part, MERGE(LEAST, LIVE)),
    GROUP_LIST(Snapshot, objects, types, objects_type_count, OBJECT_RECORD,
               MERGE(MATCH, ENDED)),
    TEXT(Snapshot, chosen, MERGE(SAME, ENDED)),
    LIST(Snapshot, lines, line_count, LINE_RECORD, MERGE(MATCH, LIVE)),
    F64(Snapshot, totals_s, MERGE(LEAST, ENDED)),
};
const struct Record SNAPSHOT_RECORD =
    RECORD(Snapshot, "snapshot", SNAPSHOT_FIELDS);

const char *State_name(uint64_t state)
{
    static const char *const names[] = {"armed", "partial", "dark"};

    return state <= STATE_DARK ? names[state] : NULL;
}

// --- The memory

struct Snapshot *Snapshot_new(void)
{
    return Record_new(&SNAPSHOT_RECORD);
}

void Snapshot_renew(struct Snapshot *snapshot)
{
    struct Arena arena = snapshot->arena;

    Arena_clear(&arena);
    *snapshot = (struct Snapshot){.arena = arena};
    Record_clear(&SNAPSHOT_RECORD, snapshot);
}

void Snapshot_free(struct Snapshot *snapshot)
{
    if (!snapshot || (snapshot->held && snapshot->held--))
        return;
    Arena_release(&snapshot->arena);
    Heap_free(snapshot);
}

struct Snapshot *Snapshot_hold(struct Snapshot *snapshot)
{
    snapshot->held++;
    return snapshot;
}

void *Snapshot_alloc(struct Snapshot *snapshot, size_t size)
{
    return Arena_alloc(&snapshot->arena, size);
}

const char *Snapshot_text(struct Snapshot *snapshot, const char *text)
{
    return Arena_text(&snapshot->arena, text);
}

size_t Snapshot_bytes(const struct Snapshot *snapshot)
{
    return sizeof(*snapshot) + Arena_bytes(&snapshot->arena);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; text && *text; text++)
        hash = hash * 33 + (uint8_t)*text;
    return hash;
}

uint64_t TaskGroup_key(const struct TaskGroup *group)
{
    uint64_t hash = hash_text(5381 + group->line, group->coroutine);

    return (hash_text(hash, group->file) << 2 >> 1) | 1;
}
