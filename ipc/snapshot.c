// SPDX-License-Identifier: MIT
// The tables of the snapshot's schema, and the functions for a snapshot's
// memory. The wire format, the viewer's JSON and ocular.snapshot() read these
// tables.
#include "ipc/snapshot.h"

#include "ipc/base/heap.h"
#include "ipc/rows.h"

// --- The schema
// Append new rows at the end of a table, because the order of rows is the order
// on the wire.

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

static const struct Field FUNCTION_FIELDS[] = {
    U64(Function, id),
    TEXT(Function, name),
    TEXT(Function, file),
    U64(Function, line),
    U64(Function, calls),
    BOOL(Function, calls_exact),
    F64(Function, calls_estimated),
    F64(Function, calls_per_s),
    F64(Function, share),
    F64(Function, cpu_share),
    F64(Function, wait_share),
    F64(Function, c_share),
    F64(Function, total_share),
    F64(Function, run_share),
    U64(Function, samples),
    U64(Function, self_cycles),
    U64(Function, total_cycles),
    F64(Function, avg_cycles),
    F64(Function, min_cycles),
    F64(Function, p50_cycles),
    F64(Function, p99_cycles),
    U64(Function, waited_cycles),
    STATE(Function, state),
    F64(Function, age_s),
    U64(Function, sites),
    U64(Function, dark_sites),
    U64(Function, specialized_sites),
    U64(Function, specializable_sites),
    LIST(Function, callers, caller_count, CALLER_RECORD),
    BOOL(Function, avg_estimated),
    BOOL(Function, rate_estimated),
    U64(Function, run_samples),
    F64(Function, calls_error),
    F64(Function, calls_per_s_error),
    U64(Function, resumptions),
    F64(Function, missed_per_s),
    F64(Function, wall_p50_s),
    F64(Function, wall_p99_s),
    F64(Function, wall_max_s),
    U64(Function, in_flight),
    F64(Function, oldest_s),
    F64(Function, await_s),
    F64(Function, gil_blocked_share),
    F64(Function, gil_blocked_s),
    U64(Function, raised),
    BOOL(Function, raised_estimated),
    OPTIONAL(Function, waits, wait_count, WAITS_RECORD),
    OPTIONAL(Function, total_parts, total_part_count, PARTS_RECORD),
};
static const struct Record FUNCTION_RECORD =
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
    TEXT(TransitionPair, from),
    TEXT(TransitionPair, to),
    U64(TransitionPair, count),
    BOOL(TransitionPair, deopt),
};
static const struct Record PAIR_RECORD =
    RECORD(TransitionPair, "transition_pair", PAIR_FIELDS);

static const struct Field RETIRED_FIELDS[] = {
    TEXT(RetiredRow, name),         TEXT(RetiredRow, file),
    U64(RetiredRow, line),          U64(RetiredRow, objects),
    U64(RetiredRow, calls),         BOOL(RetiredRow, calls_exact),
    U64(RetiredRow, self_cycles),   U64(RetiredRow, total_cycles),
    U64(RetiredRow, waited_cycles), F64(RetiredRow, run_share),
    U64(RetiredRow, samples),       U64(RetiredRow, run_samples),
    U64(RetiredRow, resumptions),
};
static const struct Record RETIRED_RECORD =
    RECORD(RetiredRow, "retired", RETIRED_FIELDS);

static const struct Field GARBAGE_FIELDS[] = {
    U64(GarbageRow, collections),
    F64(GarbageRow, total_s),
    F64(GarbageRow, longest_s),
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
    TEXT(ExceptionRow, type),        TEXT(ExceptionRow, function),
    TEXT(ExceptionRow, file),        U64(ExceptionRow, line),
    U64(ExceptionRow, id),           U64(ExceptionRow, raised),
    U64(ExceptionRow, passed),       F64(ExceptionRow, error),
    F64(ExceptionRow, raised_per_s), F64(ExceptionRow, passed_per_s),
    F64(ExceptionRow, age_s),        F64(ExceptionRow, first_s),
};
const struct Record EXCEPTION_RECORD =
    RECORD(ExceptionRow, "exception", EXCEPTION_FIELDS);

static const struct Field LOOP_FIELDS[] = {
    TEXT(LoopRow, thread),
    F64(LoopRow, lag_s),
    F64(LoopRow, steps_per_s),
    U64(LoopRow, tid),
};
static const struct Record LOOP_RECORD = RECORD(LoopRow, "loop", LOOP_FIELDS);

static const struct Field STALL_FIELDS[] = {
    F64(StallRow, at_s),  F64(StallRow, seconds),   TEXT(StallRow, thread),
    TEXT(StallRow, task), TEXT(StallRow, function), TEXT(StallRow, file),
    U64(StallRow, line),  TEXT(StallRow, stack),    U64(StallRow, tid),
    U64(StallRow, id),
};
static const struct Record STALL_RECORD =
    RECORD(StallRow, "stall", STALL_FIELDS);

static const struct Field TASK_GROUP_FIELDS[] = {
    TEXT(TaskGroup, coroutine),
    TEXT(TaskGroup, file),
    U64(TaskGroup, line),
    U64(TaskGroup, count),
    F64(TaskGroup, growth_per_min),
    F64(TaskGroup, oldest_s),
    U64(TaskGroup, id),
    TEXT(TaskGroup, waits_in),
    TEXT(TaskGroup, wait_file),
    U64(TaskGroup, wait_line),
    U64(TaskGroup, wait_count),
    F64(TaskGroup, growing_s),
    TEXT(TaskGroup, task),
    LIST(TaskGroup, chain, chain_count, PLACE_RECORD),
    BOOL(TaskGroup, oldest_is_least),
};
static const struct Record TASK_GROUP_RECORD =
    RECORD(TaskGroup, "task_group", TASK_GROUP_FIELDS);

#define AWAIT(kind, name)                                                      \
    ROW(FIELD_F64, AwaitRow, of[AWAITS_##kind], NULL, name)

static const struct Field AWAIT_FIELDS[] = {
    U64(AwaitRow, id),     TEXT(AwaitRow, name),    TEXT(AwaitRow, file),
    U64(AwaitRow, line),   AWAIT(SLEEP, "sleep"),   AWAIT(QUEUE, "queue"),
    AWAIT(LOCK, "lock"),   AWAIT(SOCKET, "socket"), AWAIT(THREAD, "thread"),
    AWAIT(TASK, "task"),   AWAIT(FUTURE, "future"), AWAIT(LOOP, "loop"),
    AWAIT(OTHER, "other"),
};
static const struct Record AWAIT_RECORD =
    RECORD(AwaitRow, "await", AWAIT_FIELDS);

static const struct Field RULE_FIELDS[] = {TEXT(FilterRule, text)};
const struct Record FILTER_RULE_RECORD =
    RECORD(FilterRule, "rule", RULE_FIELDS);

static const struct Field SNAPSHOT_FIELDS[] = {
    U64(Snapshot, schema),
    TEXT(Snapshot, version),
    U64(Snapshot, pid),
    TEXT(Snapshot, command),
    TEXT(Snapshot, python),
    TEXT(Snapshot, mode),
    U64(Snapshot, threshold),
    F64(Snapshot, uptime_s),
    F64(Snapshot, tsc_hz),
    U64(Snapshot, events),
    U64(Snapshot, lost),
    U64(Snapshot, memory_bytes),
    GROUP_F64(Snapshot, overhead, measured),
    GROUP_F64(Snapshot, overhead, budget),
    GROUP_F64(Snapshot, overhead, hooks),
    GROUP_F64(Snapshot, overhead, rearm),
    GROUP_F64(Snapshot, overhead, threads),
    GROUP_U64(Snapshot, sites, armed),
    GROUP_U64(Snapshot, sites, dark),
    GROUP_F64(Snapshot, sampler, hz),
    GROUP_U64(Snapshot, sampler, samples),
    GROUP_U64(Snapshot, sampler, unknown),
    GROUP_F64(Snapshot, sampler, elsewhere),
    LIST(Snapshot, threads, thread_count, THREAD_RECORD),
    U64(Snapshot, functions_total),
    LIST(Snapshot, functions, function_count, FUNCTION_RECORD),
    LIST(Snapshot, transitions, transition_count, TRANSITION_RECORD),
    LIST(Snapshot, transition_pairs, transition_pair_count, PAIR_RECORD),
    LIST(Snapshot, retired, retired_count, RETIRED_RECORD),
    U64(Snapshot, threads_dropped),
    GROUP_F64(Snapshot, overhead, allowed),
    GROUP_F64(Snapshot, overhead, mean),
    GROUP_U64(Snapshot, sampler, truncated),
    GROUP_TEXT(Snapshot, sampler, trouble),
    GROUP_U64(Snapshot, states, armed),
    GROUP_U64(Snapshot, states, partial),
    GROUP_U64(Snapshot, states, dark),
    GROUP_F64(Snapshot, sampler, window_s),
    GROUP_F64(Snapshot, sampler, window_samples),
    GROUP_U64(Snapshot, sampler, signal),
    GROUP_U64(Snapshot, sampler, lost),
    GROUP_U64(Snapshot, sampler, in_hooks),
    GROUP_U64(Snapshot, sampler, untimed),
    GROUP_F64(Snapshot, overhead, cores),
    GROUP_F64(Snapshot, overhead, cores_allowed),
    GROUP_F64(Snapshot, gc, share),
    GROUP_LIST(Snapshot, gc, generations, gc_generation_count, GARBAGE_RECORD),
    GROUP_LIST(Snapshot, filter, exclude, filter_exclude_count,
               FILTER_RULE_RECORD),
    GROUP_LIST(Snapshot, filter, include_only, filter_include_only_count,
               FILTER_RULE_RECORD),
    GROUP_F64(Snapshot, gil, held),
    GROUP_F64(Snapshot, gil, waited),
    GROUP_F64(Snapshot, gil, longest_s),
    GROUP_LIST(Snapshot, gil, longest, gil_longest_count, PLACE_RECORD),
    GROUP_F64(Snapshot, gil, held_s),
    GROUP_F64(Snapshot, gil, waited_s),
    LIST(Snapshot, loops, loop_count, LOOP_RECORD),
    LIST(Snapshot, stalls, stall_count, STALL_RECORD),
    U64(Snapshot, stalls_total),
    F64(Snapshot, stall_limit_s),
    GROUP_U64(Snapshot, tasks, total),
    GROUP_LIST(Snapshot, tasks, groups, tasks_group_count, TASK_GROUP_RECORD),
    LIST(Snapshot, exceptions, exception_count, EXCEPTION_RECORD),
    GROUP_U64(Snapshot, exception_totals, raised),
    GROUP_U64(Snapshot, exception_totals, passed),
    GROUP_U64(Snapshot, exception_totals, control),
    GROUP_BOOL(Snapshot, exception_totals, exact),
    GROUP_F64(Snapshot, cpu, waited),
    GROUP_LIST(Snapshot, tasks, awaits, tasks_await_count, AWAIT_RECORD),
};
const struct Record SNAPSHOT_RECORD =
    RECORD(Snapshot, "snapshot", SNAPSHOT_FIELDS);

const char *State_name(uint64_t state)
{
    switch (state) {
    case STATE_ARMED:
        return "armed";
    case STATE_PARTIAL:
        return "partial";
    case STATE_DARK:
        return "dark";
    default:
        return NULL;
    }
}

// --- The memory

struct Snapshot *Snapshot_new(void)
{
    struct Snapshot *snapshot = Heap_zeroed(1, sizeof(*snapshot));

    if (snapshot)
        Record_clear(&SNAPSHOT_RECORD, snapshot);
    return snapshot;
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
