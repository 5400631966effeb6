// SPDX-License-Identifier: MIT
// A snapshot contains the numbers of a traced process at one time. The tracer
// builds the snapshot, the server sends it to viewers, and ocular.snapshot()
// returns it. A snapshot is built by one thread. A finished snapshot never
// changes, so any thread may read it.
#pragma once

#include "ipc/base/arena.h"
#include "ipc/record.h"
#include "ipc/wait_kind.h"

// Version of the schema, which is the value of Snapshot.schema.
#define SNAPSHOT_SCHEMA 1

enum FunctionState { STATE_ARMED, STATE_PARTIAL, STATE_DARK };

// A caller's part of a function's total share, or a function's part of a
// thread's CPU time.
struct Caller {
    // Id of the function; null if this entry is the sum of all functions that
    // are not listed.
    uint64_t id;
    double share;
};

// A function's own waiting time for each kind of wait. Waiting times are parts
// of one core's wall time.
struct WaitShares {
    double of[WAIT_KINDS];
};

// Parts of the time in which a function was on the stack (total_share). The
// rest of total_share was spent in Python code.
struct PartShares {
    double c; // Time in C functions.
    double gc;
    // Waiting time of the function and of the functions that it called.
    double waits[WAIT_KINDS];
};

// The upper bounds of the buckets of struct LatencyCounts, in seconds.
#define LATENCY_BOUNDS(B)                                                      \
    B(0, 0.001), B(1, 0.0025), B(2, 0.005), B(3, 0.01), B(4, 0.025),           \
        B(5, 0.05), B(6, 0.1), B(7, 0.25), B(8, 0.5), B(9, 1.0), B(10, 2.5),   \
        B(11, 5.0), B(12, 10.0), B(13, 30.0), B(14, 60.0)
#define LATENCY_BUCKETS 16

// Numbers of a function's calls by their latencies, since a viewer first asked
// for these numbers.
struct LatencyCounts {
    double sum_s; // Sum of the latencies in seconds.
    // Number of calls whose beginning was seen and whose end was missed. These
    // calls are in no bucket.
    uint64_t missed;
    // Each bucket has the calls whose latency is at most its bound, and more
    // than the bound of the bucket before it. The last bucket has no bound.
    uint64_t of[LATENCY_BUCKETS];
};

struct Thread {
    uint64_t tid;
    const char *name;
    // CPU time of the thread as a part of one core's wall time, over the last
    // sampler_window_s seconds.
    double cpu_share;
    double wait_share;
    uint64_t samples;
    // CPU time of the thread in seconds, since tracing began or since Ocular
    // first saw the thread.
    double cpu_s;
    uint64_t ended;
    // The functions that ran in the thread, with their parts of the thread's
    // CPU time. The shares of these functions add up to cpu_share. If the
    // thread has ended, the list is empty.
    const struct Caller *functions;
    size_t function_count;
    // gil_held_* is the time in which the thread had the GIL. gil_wait_* is the
    // time in which the thread waited for the GIL. gil_held_share and
    // gil_wait_share are parts of one core's wall time over the last
    // sampler_window_s seconds. gil_held_s and gil_wait_s are seconds since
    // tracing began.
    double gil_held_share;
    double gil_wait_share;
    double gil_held_s;
    double gil_wait_s;
};

struct Function {
    uint64_t id;
    const char *name; // Qualified name of the function.
    const char *file;
    uint64_t line;
    // Number of counted calls of the function. If calls_exact is false, the
    // function may have been called more often.
    uint64_t calls;
    uint64_t calls_exact;
    double calls_estimated;
    // Relative standard deviation of calls_estimated.
    double calls_error;
    double calls_per_s;
    // bool: true if calls_per_s is estimated and not counted.
    uint64_t rate_estimated;
    // All shares of a function are parts of one core's wall time, over the last
    // sampler_window_s seconds.
    double share;
    double cpu_share;
    double wait_share;
    double c_share;
    double total_share;
    double run_share; // Mean of cpu_share since tracing began.
    uint64_t samples;
    // Numbers of cycles are ticks of the time stamp counter, without the cost
    // of Ocular's hooks.
    uint64_t self_cycles;
    uint64_t total_cycles;
    // Mean number of self cycles of one call. If avg_estimated is true,
    // avg_cycles is estimated from samples.
    double avg_cycles;
    uint64_t avg_estimated;
    double min_cycles;
    double p50_cycles;
    double p99_cycles;
    uint64_t waited_cycles;
    uint64_t state; // The function's state, an enum FunctionState.
    double age_s;
    uint64_t sites;
    uint64_t dark_sites;
    uint64_t specialized_sites;
    uint64_t specializable_sites;
    const struct Caller *callers;
    size_t caller_count;
    // Number of samples that found the function running. `samples` also counts
    // samples of waiting threads.
    uint64_t run_samples;
    // Standard deviation of calls_per_s, in calls per second. calls_per_s_error
    // is null if calls_per_s is counted or unknown.
    double calls_per_s_error;
    // Number of times that a call of the function continued after a yield or an
    // await.
    uint64_t resumptions;
    // Part of calls_per_s that was estimated; 0 if all calls are counted.
    double missed_per_s;
    // The latency of a call is the time in seconds from its beginning to its
    // return, with all awaits. wall_p50_s and wall_p99_s are the median and the
    // 99th percentile of the latencies of about the newest thousand calls.
    // wall_max_s is the largest latency of all calls that have ended since
    // tracing began. A latency is null if it is not known.
    double wall_p50_s;
    double wall_p99_s;
    double wall_max_s;
    // Number of the function's calls that have begun and not ended. If the
    // function did not have its hooks all the time, in_flight counts only calls
    // that began in a slice, or that stay in one place, and it is null if there
    // are none. For a generator, in_flight only has calls that stay in one
    // place, and is otherwise null.
    uint64_t in_flight;
    // Age in seconds of the function's oldest call that has not ended, or null
    // if unknown.
    double oldest_s;
    // Mean number of seconds in which a call of the function was suspended.
    double await_s;
    // Time in which this function had the GIL while other threads waited for
    // it, summed over the waiting threads. gil_blocked_share is a part of one
    // core's wall time over the last sampler_window_s seconds. gil_blocked_s is
    // in seconds since tracing began.
    double gil_blocked_share;
    double gil_blocked_s;
    // Number of exceptions that began in this function. Exceptions for control
    // flow, such as StopIteration, are not counted. `raised` is null if the
    // number is not known.
    uint64_t raised;
    // bool: true if `raised` is estimated and not counted.
    uint64_t raised_estimated;
    // bool: true if there may be more calls in flight than in_flight, and older
    // ones than oldest_s.
    uint64_t in_flight_is_least;
    // The parts of wait_share, as a list with one element. The list is empty if
    // the function has not waited, or if the reasons of its waits are not
    // known.
    const struct WaitShares *waits;
    size_t wait_count;
    // The parts of total_share, as a list with one element. The list is empty
    // if no share is known.
    const struct PartShares *total_parts;
    size_t total_part_count;
    // The function's calls by their latencies, as a list with one element. The
    // list is empty if no viewer has asked for them (MESSAGE_LATENCIES).
    const struct LatencyCounts *latencies;
    size_t latency_count;
};

struct Transition {
    double seen_at_s;
    const char *function;
    const char *file;
    uint64_t line;   // Line of the instruction.
    uint64_t offset; // Offset of the instruction in its code object, in bytes.
    const char *from;
    const char *to;
    // bool: true if the specialised form of the instruction changes again and
    // again (a storm).
    uint64_t storm;
    uint64_t id;    // Id of the function.
    uint64_t deopt; // bool: true if the instruction lost its specialised form.
};

struct TransitionPair {
    const char *from;
    const char *to;
    uint64_t count;
    // bool: true if the changes from `from` to `to` are losses of a specialised
    // form.
    uint64_t deopt;
};

// Sums over all functions of one name, file and line whose code objects were
// freed.
struct RetiredRow {
    // Qualified name of the functions. A row named "(others)" is the sum of all
    // rows that are not listed, and has no file and no line.
    const char *name;
    const char *file;
    uint64_t line;
    uint64_t objects; // Number of freed code objects that this row adds up.
    uint64_t calls;
    uint64_t calls_exact;
    uint64_t self_cycles;
    uint64_t total_cycles;
    uint64_t waited_cycles;
    // CPU time of the functions as a part of one core's wall time, since
    // tracing began.
    double run_share;
    uint64_t samples;
    uint64_t run_samples;
    uint64_t resumptions;
};

// The garbage collections of one generation of CPython's garbage collector.
struct GarbageRow {
    // Number of garbage collections that have ended since tracing began.
    uint64_t collections;
    double total_s; // Sum of the pauses for garbage collections, in seconds.
    // Longest pause for a garbage collection, in seconds.
    double longest_s;
};

// A function on a stack.
struct StackPlace {
    uint64_t id;
    const char *name;
    const char *file;
    uint64_t line; // Line in which the function was running.
};

// The event loop of one thread. The numbers of an event loop are of about the
// last ten seconds.
struct LoopRow {
    const char *thread; // Name of the thread.
    // Mean delay in seconds by which the callbacks of timers ran later than
    // they were due. lag_s is null if it is not known, or if no timer has run.
    double lag_s;
    // Steps of the event loop per second. A step is one callback, or one part
    // of a task up to its next await.
    double steps_per_s;
    uint64_t tid;
    // Sums since tracing began: the number of steps, the number of timers'
    // callbacks that have run, and their delays in seconds. The sums are null
    // if steps were not observed for a time.
    uint64_t steps;
    uint64_t timers;
    double late_s;
};

// A step of an event loop that took long.
struct StallRow {
    // Beginning of the stall, in seconds since tracing began.
    double at_s;
    double seconds;
    // True if a thread without an event loop kept the GIL in a call of C.
    uint64_t has_gil;
    const char *thread; // Name of the thread.
    // Name of the asyncio task to which the step belongs; null if the name is
    // not known or the step belongs to no task.
    const char *task;
    // function, file, line and stack describe where in the code most
    // observations have found the step. function, file, line, stack and id are
    // null if there was no observation.
    const char *function;
    const char *file;
    uint64_t line;
    // Names of the functions on the stack, the outermost first, with ';'
    // between them.
    const char *stack;
    uint64_t tid;
    uint64_t id; // Id of the function.
};

// One asyncio task.
struct TaskRow {
    const char *name;
    // "new" if the task has not begun, "runs", "waits", or "ready" if the task
    // will go on as soon as its event loop runs it. Null if the state is not
    // known.
    const char *state;
    double age_s; // Time in seconds for which the task has existed at least.
    // bool: true if the task may be much older, as in struct TaskGroup.
    uint64_t age_is_least;
    // The type of the future that the task waits for, or the name of a task;
    // null if the task does not wait or the future is not known.
    const char *waits_for;
    // Name of the task that waits for this task; null if none is known.
    const char *awaited_by;
    // The await chain, from the task's coroutine to the innermost await.
    const struct StackPlace *chain;
    size_t chain_count;
    // Number of steps of the task since a viewer has asked for tasks; null if
    // the steps were not counted.
    uint64_t steps;
    // CPU time of the task as a share of a core, in the newest seconds.
    double cpu_share;
};

// A group of asyncio tasks: either all tasks of one coroutine function, or all
// tasks that were created at one line of the program.
struct TaskGroup {
    // Qualified name of the coroutine function. If the group is for a line of
    // the program, `coroutine` is the function that has created the tasks, and
    // `line` is that line.
    const char *coroutine;
    const char *file;
    uint64_t line;
    uint64_t count; // Number of tasks in the group.
    // Growth of the group of tasks, in tasks per minute, over the newest minute
    // or less.
    double growth_per_min;
    // Time in seconds for which the oldest task has existed at least.
    double oldest_s;
    // Id of the coroutine function; null if the function is not traced.
    uint64_t id;
    // Qualified name of the function with the line wait_line.
    const char *waits_in;
    const char *wait_file;
    // Line of the innermost await in which most tasks of the group wait.
    uint64_t wait_line;
    uint64_t wait_count; // Number of tasks of the group that wait at this line.
    // Seconds between the first and the newest growth of the group since it
    // last shrank.
    double growing_s;
    // Name of the oldest task. If the program has given names to all tasks of
    // the group, the name of any of them.
    const char *task;
    // The await chain of the task with the name `task`, from its coroutine to
    // the innermost await. The list is empty if the chain was not read.
    const struct StackPlace *chain;
    size_t chain_count;
    // bool: true if the oldest task may be much older than `oldest_s`, because
    // tasks were not read before this task was found.
    uint64_t oldest_is_least;
    // Up to 50 of the oldest tasks, the oldest first. The list is empty if no
    // viewer has asked for the single tasks of this group.
    const struct TaskRow *tasks;
    size_t task_count;
    // CPU time of all tasks of the group as a share of a core; null if the
    // group is for a line of the program.
    double cpu_share;
    double steps_per_s; // Steps of the group's tasks per second.
    // bool: true if the place may have more tasks, because Ocular has forgotten
    // or missed tasks in the newest minute.
    uint64_t count_is_least;
};

// Returns a number for the group's coroutine function that is the same in all
// processes. The number is neither 0 nor UINT64_MAX.
uint64_t TaskGroup_key(const struct TaskGroup *group);

// Numbers of suspended calls of one coroutine function, for each kind of await.
struct AwaitRow {
    uint64_t id;      // Id of the function; null if the function is not traced.
    const char *name; // Qualified name of the function.
    const char *file;
    uint64_t line;
    // Mean number of suspended calls for each kind of await. A call is
    // suspended if its task is suspended in the call itself or in a coroutine
    // that the call awaits.
    double of[AWAIT_KINDS];
};

// The exceptions of one type in one function.
struct ExceptionRow {
    // Name of the exceptions' type. The row of the type "(others)" is the sum
    // of all rows that are not listed, and it has no function.
    const char *type;
    // Name of the function in which the exceptions occurred; null if the
    // function is not traced.
    const char *function;
    const char *file;
    // Line at which the row's first exception began; null if no exception of
    // the row began in this function.
    uint64_t line;
    uint64_t id;     // Id of the function.
    uint64_t raised; // Number of exceptions that began in this function.
    // Number of exceptions that came into this function from a function that it
    // had called.
    uint64_t passed;
    // Relative standard deviation of `raised`. `error` is null if `raised` is
    // counted, or if the deviation is not known.
    double error;
    double raised_per_s;
    double passed_per_s;
    double age_s; // Seconds since the row's newest exception.
    // Seconds from the start of tracing to the row's first exception.
    double first_s;
};

// Births and deaths of objects of one type, in objects per second. If a row has
// a function, its numbers are only of objects that this function has created.
struct ObjectRow {
    const char *type;
    // Name of the function, or "(not traced)" if it is not traced. Null if the
    // row is the sum of all functions.
    const char *function;
    const char *file;
    uint64_t line;
    uint64_t id; // Id of the function.
    double born_per_s;
    // Deaths per second, and births minus deaths per second. For single
    // functions, the deaths are unknown, and so is the difference.
    double died_per_s;
    double net_per_s;
    double born_error; // Standard deviation of born_per_s.
    double net_error;  // Standard deviation of net_per_s.
    // bool: true if the number of objects of the type only grows. Null in a row
    // with a function.
    uint64_t grows;
    // Numbers of births and deaths that were counted.
    uint64_t born;
    uint64_t died;
};

// One of the hottest lines.
struct LineRow {
    const char *file;
    uint64_t line;
    const char *function; // Name of the function.
    uint64_t id;          // Id of the function.
    // CPU time of the line as a part of one core's wall time, over the last
    // sampler_window_s seconds. The function's share is divided among its lines
    // by their samples.
    double share;
    // Number of samples that found the line running since tracing began.
    uint64_t samples;
    // Number of counted runs of the line; null if hits of lines are not
    // counted. If hits_exact is false, the line may have run more often.
    uint64_t hits;
    uint64_t hits_exact;
    // hits_per_s is counted if hits_exact is true. If hits_exact is false,
    // hits_per_s is estimated from hits in slices and from the function's
    // share.
    double hits_per_s;
};

// A rule of the filter that decides which code is traced.
struct FilterRule {
    const char *text;
};

struct RowSet;

struct Snapshot {
    uint64_t schema;
    const char *version; // Version of Ocular.
    uint64_t pid;
    const char *command;
    const char *python;
    const char *mode;
    uint64_t threshold;
    double uptime_s; // Seconds since tracing began.
    double tsc_hz;
    uint64_t events;
    uint64_t lost;
    uint64_t memory_bytes;
    // Ocular's overhead in the last ten seconds, as a part of the CPU time of
    // the process.
    double overhead_measured;
    double overhead_budget;
    double overhead_hooks;
    double overhead_rearm;
    double overhead_threads;
    // The allowed overhead. The allowed overhead is the budget, or more if the
    // process uses less than a fifth of a core.
    double overhead_allowed;
    double overhead_mean;  // Average of overhead_measured since tracing began.
    double overhead_cores; // overhead_measured as a part of one core's time.
    // overhead_allowed as a part of one core's time.
    double overhead_cores_allowed;
    uint64_t sites_armed;
    uint64_t sites_dark;
    // Samples of running threads per second, over the last sampler_window_s
    // seconds.
    double sampler_hz;
    // Number of samples of running threads since tracing began.
    uint64_t sampler_samples;
    // Number of samples whose stack could not be read to its end.
    uint64_t sampler_unknown;
    // Time of threads in functions that are not traced, as a part of one core's
    // wall time.
    double sampler_elsewhere;
    // Number of samples whose stack had more frames than can be read.
    uint64_t sampler_truncated;
    // Reason why no samples are taken, or null if samples are taken.
    const char *sampler_trouble;
    // Length in seconds of the newest time over which shares are computed.
    double sampler_window_s;
    // Number of samples of running threads in the last sampler_window_s
    // seconds.
    double sampler_window_samples;
    // Number of the signal by which samples are taken. If sampler_signal is
    // null, threads have no timers, and all threads are observed 20 times a
    // second instead.
    uint64_t sampler_signal;
    // Number of samples that were lost because a ring of samples was full.
    uint64_t sampler_lost;
    // Number of samples that found a thread in a hook of Ocular.
    uint64_t sampler_in_hooks;
    // Number of threads for which no timer could be made.
    uint64_t sampler_untimed;
    uint64_t functions_total;
    // states_armed, states_partial and states_dark are the numbers of functions
    // in these three states.
    uint64_t states_armed;
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
    // Number of ended threads without a row in the list.
    uint64_t threads_dropped;
    // Pauses of the garbage collector as a part of one core's wall time, over
    // about the last ten seconds.
    double gc_share;
    // The generations of the garbage collector, the youngest first.
    const struct GarbageRow *gc_generations;
    size_t gc_generation_count;
    // Code that matches one of the `exclude` rules is not traced.
    const struct FilterRule *filter_exclude;
    size_t filter_exclude_count;
    // If there are `include_only` rules, only code is traced that matches one
    // of them.
    const struct FilterRule *filter_include_only;
    size_t filter_include_only_count;
    // gil_held is the time in which any thread had the GIL. gil_waited is the
    // time in which threads waited for the GIL, summed over all threads.
    // gil_held and gil_waited are parts of one core's wall time over the last
    // sampler_window_s seconds.
    double gil_held;
    double gil_waited;
    // Longest time in seconds since tracing began in which one thread had the
    // GIL without a break while another thread waited for it. gil_longest_s is
    // null if no such time was seen.
    double gil_longest_s;
    // Stack of the thread with the longest time, at the end of that time, the
    // innermost function first.
    const struct StackPlace *gil_longest;
    size_t gil_longest_count;
    // gil_held_s and gil_waited_s are in seconds since tracing began.
    double gil_held_s;
    double gil_waited_s;
    // A list with one row for each thread whose event loop has run.
    const struct LoopRow *loops;
    size_t loop_count;
    // The newest stalls, sorted by their beginning.
    const struct StallRow *stalls;
    size_t stall_count;
    // Number of stalls since tracing began; null if not known.
    uint64_t stalls_total;
    // A step of an event loop that takes this number of seconds or longer is a
    // stall.
    double stall_limit_s;
    // Number of all asyncio tasks. tasks_total is null if not all tasks were
    // read.
    uint64_t tasks_total;
    // The groups of asyncio tasks, the largest group first.
    const struct TaskGroup *tasks_groups;
    size_t tasks_group_count;
    // Coroutine functions of asyncio's tasks, with the kinds of their awaits.
    // The list is empty if no task has been read.
    const struct AwaitRow *tasks_awaits;
    size_t tasks_await_count;
    // The same asyncio tasks, grouped by the lines at which they were created,
    // the largest group first. Tasks are missing if the line of their creation
    // is not known.
    const struct TaskGroup *tasks_places;
    size_t tasks_place_count;
    // A list with one row for each type of exceptions in one function. The row
    // with the newest first exception comes first.
    const struct ExceptionRow *exceptions;
    size_t exception_count;
    uint64_t exception_totals_raised;
    uint64_t exception_totals_passed;
    // Number of exceptions for control flow that began: StopIteration,
    // StopAsyncIteration, GeneratorExit and CancelledError. All other numbers
    // of exceptions leave out exceptions for control flow.
    uint64_t exception_totals_control;
    // bool: true if all exceptions were counted.
    uint64_t exception_totals_exact;
    // Reason why numbers of objects are missing.
    const char *objects_trouble;
    // Part of the time in which objects were counted.
    double objects_part;
    // Types that only grow come first. After each type come the functions that
    // create most of its objects. The list is empty if no viewer has asked for
    // objects.
    const struct ObjectRow *objects_types;
    size_t objects_type_count;
    // Time in which threads were ready to run and had no CPU, summed over all
    // threads: a part of one core's wall time over the last sampler_window_s
    // seconds.
    double cpu_waited;
    // Names of the events that the user has chosen, separated by commas.
    const char *chosen;
    // The hottest lines, the line with the largest share first. The list is
    // empty if no viewer has asked for lines.
    const struct LineRow *lines;
    size_t line_count;
    // Only in a recording: seconds from the start of tracing to the time of the
    // newest snapshot. Numbers that are in no event and in no sample come from
    // that snapshot. If the program was killed, totals_s is some seconds before
    // the program's end. totals_s is null for a running process and for a part
    // of a run.
    double totals_s;
    // A traced process has its functions in `shared` and not in `functions`.
    // The rows in `shared` belong to several snapshots (row_set.h). The
    // schema's tables do not list `shared`.
    const struct RowSet *shared;
    // Number of owners of the snapshot minus 1. Snapshot_free decrements
    // `held`, and frees the snapshot if `held` is already 0.
    unsigned held;
    // Memory of everything to which the snapshot points.
    struct Arena arena;
};

// --- The schema (record.h). Append new rows at the end of a table in
// snapshot.c, since the order of rows is the order on the wire.

// The schema of a snapshot, with the schemas of all its lists.
extern const struct Record SNAPSHOT_RECORD;
extern const struct Record FUNCTION_RECORD;
extern const struct Record FILTER_RULE_RECORD;
extern const struct Record EXCEPTION_RECORD;
extern const struct Record OBJECT_RECORD;
extern const struct Record LINE_RECORD;

// Returns "armed", "partial" or "dark" for a FunctionState, or NULL for any
// other number.
const char *State_name(uint64_t state);

// Returns a new snapshot, in which all numbers and texts are null and all lists
// are empty. The caller frees the snapshot. Returns NULL if there is no memory.
struct Snapshot *Snapshot_new(void);
void Snapshot_free(struct Snapshot *snapshot); // `snapshot` may be NULL.
// Adds an owner to the snapshot. Each owner of a snapshot calls Snapshot_free.
// All owners of a snapshot must be on the same thread.
struct Snapshot *Snapshot_hold(struct Snapshot *snapshot);
// Makes the snapshot as empty as a new one, but keeps its memory for reuse.
void Snapshot_renew(struct Snapshot *snapshot);

// Returns zeroed memory that lives as long as the snapshot, or NULL if there is
// no memory.
void *Snapshot_alloc(struct Snapshot *snapshot, size_t size);
// Returns a copy of `text`, which is freed with the snapshot. Returns NULL if
// `text` is NULL or there is no memory.
const char *Snapshot_text(struct Snapshot *snapshot, const char *text);
// Returns the number of bytes of memory that the snapshot occupies.
size_t Snapshot_bytes(const struct Snapshot *snapshot);
