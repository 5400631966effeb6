// SPDX-License-Identifier: MIT
// A snapshot is the state of a traced process at one moment. The tracer builds
// a snapshot, the server sends the snapshot to viewers, and ocular.snapshot()
// returns the snapshot. One thread builds a snapshot. A finished snapshot never
// changes, and any thread may read the snapshot.
#ifndef OCULAR_IPC_SNAPSHOT_H
#define OCULAR_IPC_SNAPSHOT_H

#include "ipc/base/arena.h"
#include "ipc/record.h"

#include <stdbool.h>

#define SNAPSHOT_SCHEMA 1 // the value of Snapshot.schema

enum FunctionState { STATE_ARMED, STATE_PARTIAL, STATE_DARK };

// A caller's part of the total share of a function, or a function's part of a
// thread's CPU time.
struct Caller {
    uint64_t id; // null: all other functions together
    double share;
};

struct Thread {
    uint64_t tid;
    const char *name;
    double cpu_share; // part of one core's wall time, in the window
    double wait_share;
    uint64_t samples;
    // CPU time in seconds since tracing began, or since Ocular first saw the
    // thread.
    double cpu_s;
    uint64_t ended;
    // The functions that ran in the thread. The shares of these functions add
    // up to cpu_share. The list is empty if the thread has ended.
    const struct Caller *functions;
    size_t function_count;
    // Time with the GIL, and time in which the thread waited for the GIL:
    // shares of one core's wall time in the window, and seconds since tracing
    // began.
    double gil_held_share;
    double gil_wait_share;
    double gil_held_s;
    double gil_wait_s;
};

struct Function {
    uint64_t id;
    const char *name; // qualified name
    const char *file;
    uint64_t line;
    // Number of counted calls. If calls_exact is false, more calls may have
    // begun.
    uint64_t calls;
    uint64_t calls_exact;
    double calls_estimated;
    // Standard deviation of calls_estimated, divided by calls_estimated.
    double calls_error;
    double calls_per_s;
    uint64_t rate_estimated; // bool: calls_per_s is estimated, not counted
    // The shares are parts of one core's wall time, in the sampler's window.
    double share;
    double cpu_share;
    double wait_share;
    double c_share;
    double total_share;
    double run_share; // cpu_share since the start of the trace
    uint64_t samples;
    // Cycles are TSC ticks, without the cost of the hooks.
    uint64_t self_cycles;
    uint64_t total_cycles;
    // Self cycles per call. If avg_estimated is true, the average is estimated
    // from samples, as the function's own part of total_cycles.
    double avg_cycles;
    uint64_t avg_estimated;
    double min_cycles;
    double p50_cycles;
    double p99_cycles;
    uint64_t waited_cycles;
    uint64_t state; // enum FunctionState
    double age_s;
    uint64_t sites;
    uint64_t dark_sites;
    uint64_t specialized_sites;
    uint64_t specializable_sites;
    const struct Caller *callers;
    size_t caller_count;
    uint64_t run_samples; // part of `samples` with CPU time
    // Standard deviation of calls_per_s, in calls a second. Null: the rate is
    // counted or unknown.
    double calls_per_s_error;
    // Number of times that a call continued after a yield or an await.
    uint64_t resumptions;
    // Calls per second that are only estimated; 0: all calls are counted.
    double missed_per_s;
    // The latency of a call is the time from the call's beginning to its
    // return, with all awaits. Null: unknown.
    double wall_p50_s; // of about the newest thousand calls
    double wall_p99_s;
    double wall_max_s; // the longest call that has ended, since tracing began
    // Number of calls that have begun and have not ended. Null: the function
    // was not armed all the time, or is a generator.
    uint64_t in_flight;
    double oldest_s; // seconds since the oldest of these calls began
    double await_s;  // mean time of a call in which the call was suspended
    // Time in which other threads waited for the GIL while this function had
    // it, summed up over these threads: a share of one core's wall time in the
    // window, and seconds since tracing began.
    double gil_blocked_share;
    double gil_blocked_s;
    // Number of exceptions that began in the function, without control flow.
    // Null: unknown.
    uint64_t raised;
    uint64_t raised_estimated; // bool: `raised` is estimated, not counted
};

struct Transition {
    double seen_at_s;
    const char *function;
    const char *file;
    uint64_t line;   // of the instruction
    uint64_t offset; // bytes
    const char *from;
    const char *to;
    uint64_t storm; // bool: the instruction is a storm (docs/architecture.md)
    uint64_t id;    // of the function
    uint64_t deopt; // bool: the instruction lost its specialised form
};

struct TransitionPair {
    const char *from;
    const char *to;
    uint64_t count;
    uint64_t deopt; // bool: as in struct Transition
};

// A row is the sum of all functions of one name, file and line whose code
// objects are freed.
struct RetiredRow {
    // "(others)", without file and line, is the sum of the rows that are not
    // listed.
    const char *name;
    const char *file;
    uint64_t line;
    uint64_t objects; // number of code objects
    uint64_t calls;
    uint64_t calls_exact;
    uint64_t self_cycles;
    uint64_t total_cycles;
    uint64_t waited_cycles;
    double run_share; // part of one core's wall time since tracing began
    uint64_t samples;
    uint64_t run_samples;
    uint64_t resumptions;
};

// The collections of one generation of the garbage collector.
struct GarbageRow {
    uint64_t collections; // collections since tracing began that have ended
    double total_s;       // sum of their pauses
    double longest_s;     // the longest pause
};

// A function on a stack.
struct StackPlace {
    uint64_t id;
    const char *name;
    const char *file;
    uint64_t line; // the line at which the function was
};

// The event loop of one thread, over about the last ten seconds.
struct LoopRow {
    const char *thread; // name
    // Mean time between the moment at which a timer's callback was due and the
    // moment at which it ran. Null: unknown, or no timer has run.
    double lag_s;
    // A step is one callback, or one part of a task up to its next await.
    double steps_per_s;
    uint64_t tid;
};

// A step of an event loop that took long.
struct StallRow {
    double at_s; // beginning, in seconds since tracing started
    double seconds;
    const char *thread; // name
    const char *task;   // name of asyncio's task; null: unknown, or no task
    // The place in which most observations have found the thread. All are null
    // if there was no observation.
    const char *function;
    const char *file;
    uint64_t line;
    const char *stack; // names of functions, the outermost first, with ';'
    uint64_t tid;
    uint64_t id; // of the function
};

// The asyncio tasks of one coroutine.
struct TaskGroup {
    const char *coroutine; // qualified name
    const char *file;
    uint64_t line;
    uint64_t count; // number of tasks
    // Tasks a minute by which the group grows, over the newest minute at most.
    double growth_per_min;
    double oldest_s; // the oldest task has existed for this time, at least
    uint64_t id;     // of the function; null: not traced
    // The line at which most of the tasks wait: that of their innermost await.
    const char *waits_in; // qualified name of the function
    const char *wait_file;
    uint64_t wait_line;
    uint64_t wait_count; // number of tasks that wait there
    // Seconds from the first to the newest time that the group has grown since
    // it last shrank.
    double growing_s;
    // Name of the oldest task; if the program has named all tasks, of any task.
    const char *task;
    // The await chain of this task, from its coroutine to the innermost await.
    // The list is empty if the chain was not read.
    const struct StackPlace *chain;
    size_t chain_count;
    // bool: the oldest task may be much older than `oldest_s`, because no walk
    // looked before the walk that found the task
    uint64_t oldest_is_least;
};

// A type of exceptions in one function.
struct ExceptionRow {
    // "(others)", without a function, is the sum of the rows that are not
    // listed.
    const char *type;
    const char *function; // null: the function is not traced
    const char *file;
    uint64_t line;   // where the first one began; null: none began here
    uint64_t id;     // of the function
    uint64_t raised; // exceptions that began here
    uint64_t passed; // exceptions of callees that came here
    // Standard deviation of `raised`, divided by `raised`. Null: `raised` is
    // counted, or its deviation is unknown.
    double error;
    double raised_per_s;
    double passed_per_s;
    double age_s;   // seconds since the newest one
    double first_s; // seconds from the start of the trace to the first one
};

// A rule of the filter that decides which code is traced.
struct FilterRule {
    const char *text;
};

struct RowSet;

struct Snapshot {
    uint64_t schema;
    const char *version; // of Ocular
    uint64_t pid;
    const char *command;
    const char *python;
    const char *mode;
    uint64_t threshold;
    double uptime_s; // since tracing started
    double tsc_hz;
    uint64_t events;
    uint64_t lost;
    uint64_t memory_bytes;
    // The overhead as a share of the process's CPU time over the last ten
    // seconds.
    double overhead_measured;
    double overhead_budget;
    double overhead_hooks;
    double overhead_rearm;
    double overhead_threads;
    // The allowed overhead. This is the budget, or more if the process uses
    // less than 1/5 of a core.
    double overhead_allowed;
    double overhead_mean;          // overhead_measured since tracing began
    double overhead_cores;         // overhead_measured as a part of one core
    double overhead_cores_allowed; // overhead_allowed as a part of one core
    uint64_t sites_armed;
    uint64_t sites_dark;
    double sampler_hz; // samples of running threads a second, in the window
    uint64_t sampler_samples; // samples of running threads, since the start
    // Samples whose stack could not be read to its end.
    uint64_t sampler_unknown;
    // Part of one core's wall time in functions that are not traced.
    double sampler_elsewhere;
    uint64_t sampler_truncated;  // samples whose stack was too deep
    const char *sampler_trouble; // reason why no samples are taken, or null
    // Length in s of the window over which all shares are taken.
    double sampler_window_s;
    double sampler_window_samples; // samples of running threads in the window
    // Number of the signal by which samples are taken. Null: no thread has a
    // timer, and all threads are observed 20 times a second instead.
    uint64_t sampler_signal;
    uint64_t sampler_lost;     // samples for which there was no room
    uint64_t sampler_in_hooks; // samples that found a hook running
    uint64_t sampler_untimed;  // threads that could get no timer
    uint64_t functions_total;
    uint64_t states_armed; // functions in each state
    uint64_t states_partial;
    uint64_t states_dark;
    const struct Thread *threads;
    size_t thread_count;
    const struct Function *functions;
    size_t function_count;
    const struct Transition *transitions;
    size_t transition_count;
    const struct TransitionPair *transition_pairs;
    size_t transition_pair_count;
    const struct RetiredRow *retired;
    size_t retired_count;
    uint64_t threads_dropped; // threads that have ended and are not listed
    // Pauses of the garbage collector, as a part of one core's wall time over
    // about the last ten seconds.
    double gc_share;
    const struct GarbageRow *gc_generations; // the youngest comes first
    size_t gc_generation_count;
    // Code that matches one of these rules is not traced.
    const struct FilterRule *filter_exclude;
    size_t filter_exclude_count;
    // If there are any, only code that matches one of these rules is traced.
    const struct FilterRule *filter_include_only;
    size_t filter_include_only_count;
    // Time in which a thread had the GIL, and the sum of the times in which
    // threads waited for the GIL: parts of one core's wall time in the window.
    double gil_held;
    double gil_waited;
    // The longest time since tracing began for which a thread had the GIL
    // without a break while another thread waited. Null: there was none.
    double gil_longest_s;
    // The stack at the end of this time, innermost first.
    const struct StackPlace *gil_longest;
    size_t gil_longest_count;
    double gil_held_s; // in seconds since tracing began
    double gil_waited_s;
    const struct LoopRow *loops; // threads with an event loop that have run
    size_t loop_count;
    const struct StallRow *stalls; // the newest ones, the oldest first
    size_t stall_count;
    uint64_t stalls_total; // stalls since tracing started; null: unknown
    double stall_limit_s;  // a step that takes as long is a stall
    // Null: asyncio's tasks have not been read, or not all of them.
    uint64_t tasks_total;
    const struct TaskGroup *tasks_groups; // the largest group comes first
    size_t tasks_group_count;
    const struct ExceptionRow *exceptions; // the newest kind comes first
    size_t exception_count;
    uint64_t exception_totals_raised;
    uint64_t exception_totals_passed;
    // Control flow that began: StopIteration, StopAsyncIteration, GeneratorExit
    // and CancelledError. Not in the other numbers.
    uint64_t exception_totals_control;
    uint64_t exception_totals_exact; // bool: all exceptions were counted
    // Not in the table of the schema. A traced process has the functions in
    // `shared` instead of `functions`, in rows that several snapshots share
    // (row_set.h).
    const struct RowSet *shared;
    // Number of calls of Snapshot_free that only decrement `held`.
    unsigned held;
    struct Arena arena; // holds the memory of all pointers above
};

// --- The schema (record.h). Append new rows at the end of a table in
// snapshot.c, since the order of rows is the order on the wire.

extern const struct Record SNAPSHOT_RECORD; // the schema of a whole snapshot
extern const struct Record FILTER_RULE_RECORD;
extern const struct Record EXCEPTION_RECORD;

const char *State_name(uint64_t state); // "armed", "partial", "dark"; or NULL

// Returns a new snapshot, in which every number and text is null and every list
// is empty. The caller frees the snapshot. Returns NULL if memory is out.
struct Snapshot *Snapshot_new(void);
void Snapshot_free(struct Snapshot *snapshot); // NULL is fine
// Adds an owner to the snapshot, on the same thread. Each owner calls
// Snapshot_free.
struct Snapshot *Snapshot_hold(struct Snapshot *snapshot);
// Makes the snapshot as empty as a new snapshot, but keeps its memory.
void Snapshot_renew(struct Snapshot *snapshot);

// Returns zeroed memory that lives as long as the snapshot, or NULL if memory
// is out.
void *Snapshot_alloc(struct Snapshot *snapshot, size_t size);
// Returns a copy of text, which is NULL if text is NULL or memory is out.
const char *Snapshot_text(struct Snapshot *snapshot, const char *text);
// Returns the bytes that the snapshot holds.
size_t Snapshot_bytes(const struct Snapshot *snapshot);

#endif
