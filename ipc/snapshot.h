// SPDX-License-Identifier: MIT
// A snapshot has the numbers of a traced process at one moment. The tracer
// builds the snapshot, the server sends it to viewers, and ocular.snapshot()
// returns it. Only one thread builds a snapshot. A finished snapshot never
// changes, so any thread may read it.
#pragma once

#include "ipc/base/arena.h"
#include "ipc/record.h"
#include "ipc/wait_kind.h"

#include <stdbool.h>

// Version of the schema, which is the value of Snapshot.schema.
#define SNAPSHOT_SCHEMA 1

enum FunctionState { STATE_ARMED, STATE_PARTIAL, STATE_DARK };

// A caller's part of the total share of a function, or a function's part of a
// thread's CPU time.
struct Caller {
    // Id of the function; null if this entry is the sum of all functions that
    // are not listed.
    uint64_t id;
    double share;
};

// A function's own waits, divided by their kind. The waits are parts of one
// core's wall time.
struct WaitShares {
    double of[WAIT_KINDS];
};

// Parts of a function's total share of time. The rest of the total share is the
// time of Python code.
struct PartShares {
    double c; // Time in C functions.
    double gc;
    // The waits of the function, and of the functions that it called.
    double waits[WAIT_KINDS];
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
    // The functions that ran in the thread. The shares of the thread's
    // functions add up to cpu_share. The list of functions is empty if the
    // thread has ended.
    const struct Caller *functions;
    size_t function_count;
    // gil_held_* is the time for which the thread had the GIL. gil_wait_* is
    // the time for which the thread waited for the GIL. gil_held_share and
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
    // Number of the function's calls that were counted. If calls_exact is
    // false, the function may have been called more often.
    uint64_t calls;
    uint64_t calls_exact;
    double calls_estimated;
    // Standard deviation of calls_estimated, divided by calls_estimated.
    double calls_error;
    double calls_per_s;
    // bool: true if calls_per_s is estimated and not counted.
    uint64_t rate_estimated;
    // The shares of a function are parts of one core's wall time, over the last
    // sampler_window_s seconds.
    double share;
    double cpu_share;
    double wait_share;
    double c_share;
    double total_share;
    double run_share; // Average of cpu_share since tracing began.
    uint64_t samples;
    // Cycles of a function are ticks of the time stamp counter, without the
    // cost of Ocular's hooks.
    uint64_t self_cycles;
    uint64_t total_cycles;
    // The function's self cycles per call. If avg_estimated is true, this
    // number is estimated from samples.
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
    // Number of samples that found the function running. Function.samples also
    // contains samples of waiting threads.
    uint64_t run_samples;
    // Standard deviation of calls_per_s, in calls per second. calls_per_s_error
    // is null if calls_per_s is counted or not known.
    double calls_per_s_error;
    // Number of times that a call of the function continued after a yield or an
    // await.
    uint64_t resumptions;
    // The part of calls_per_s that was estimated; 0 if all calls are counted.
    double missed_per_s;
    // The latency of a call is the number of seconds from the call's beginning
    // to its return, with all awaits. The latencies wall_p50_s and wall_p99_s
    // are the median and the 99th percentile of about the newest thousand
    // calls. The latency wall_max_s is the maximum of all calls that have ended
    // since tracing began. A latency that is not known is null.
    double wall_p50_s;
    double wall_p99_s;
    double wall_max_s;
    // Number of the function's calls that have begun and have not ended.
    // If the function is armed in slices, in_flight only has calls that began
    // in a slice, and is null if there are none. in_flight is null, too, if the
    // function was otherwise not armed all the time, or is a generator.
    uint64_t in_flight;
    // Seconds since the beginning of the function's oldest call that has not
    // ended.
    double oldest_s;
    // Mean number of seconds for which a call of the function was suspended.
    double await_s;
    // Time for which other threads waited for the GIL while the function had
    // it, added up over the waiting threads. gil_blocked_share is a part of one
    // core's wall time over the last sampler_window_s seconds. gil_blocked_s is
    // in seconds since tracing began.
    double gil_blocked_share;
    double gil_blocked_s;
    // Number of exceptions that began in the function, except exceptions for
    // control flow, such as StopIteration. `raised` is null if this number is
    // not known.
    uint64_t raised;
    // bool: true if `raised` is estimated and not counted.
    uint64_t raised_estimated;
    // A list whose only element has the parts of wait_share. The list is empty
    // if the function has not waited, or if it is not known what it waited for.
    const struct WaitShares *waits;
    size_t wait_count;
    // A list whose only element has the parts of total_share. The list is empty
    // if no share is known.
    const struct PartShares *total_parts;
    size_t total_part_count;
};

struct Transition {
    double seen_at_s;
    const char *function;
    const char *file;
    uint64_t line;   // Line of the instruction.
    uint64_t offset; // Offset of the instruction in its code object, in bytes.
    const char *from;
    const char *to;
    // bool: true if the instruction is a storm (docs/architecture.md).
    uint64_t storm;
    uint64_t id;    // Id of the function.
    uint64_t deopt; // bool: true if the instruction lost its specialised form.
};

struct TransitionPair {
    const char *from;
    const char *to;
    uint64_t count;
    // bool: true if instructions lost their specialised form by changing from
    // `from` to `to`.
    uint64_t deopt;
};

// The sum over all functions of one name, file and line whose code objects are
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

// The collections of one generation of CPython's garbage collector.
struct GarbageRow {
    // Number of garbage collections that have ended since tracing began.
    uint64_t collections;
    double total_s; // Seconds that all pauses for garbage collections took.
    // Seconds that the longest pause for a garbage collection took.
    double longest_s;
};

// A function on a stack.
struct StackPlace {
    uint64_t id;
    const char *name;
    const char *file;
    uint64_t line; // The line at which the function on the stack was.
};

// The event loop of one thread, over about the last ten seconds.
struct LoopRow {
    const char *thread; // Name of the thread.
    // Mean number of seconds from the moment at which a timer's callback was
    // due to the moment at which it ran. lag_s is null if it is not known or no
    // timer has run.
    double lag_s;
    // Steps of the event loop per second. A step is one callback, or one part
    // of a task up to its next await.
    double steps_per_s;
    uint64_t tid;
    // Sums since tracing began, which are null if steps were not observed for a
    // time: the number of steps, the number of timers' callbacks that have run,
    // and the seconds by which they ran late, all together.
    uint64_t steps;
    uint64_t timers;
    double late_s;
};

// A step of an event loop that took long.
struct StallRow {
    // Beginning of the event loop's step, in seconds since tracing began.
    double at_s;
    double seconds;
    const char *thread; // Name of the thread.
    // Name of the asyncio task that the step belongs to; null if the name is
    // not known or the step belongs to no task.
    const char *task;
    // function, file, line and stack give the place in the code at which most
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
    double age_s; // Smallest number of seconds for which the task has existed.
    // bool: true if the task may be much older, as in struct TaskGroup.
    uint64_t age_is_least;
    // The type of the future that the task waits for, or the name of a task;
    // null if the task does not wait or the future is not known.
    const char *waits_for;
    // Name of a task that waits for this task; null if none is known.
    const char *awaited_by;
    // The await chain, from the task's coroutine to the innermost await.
    const struct StackPlace *chain;
    size_t chain_count;
    // Number of the task's steps since somebody has asked for tasks; null if
    // they were not counted.
    uint64_t steps;
};

// The asyncio tasks of one coroutine function, or those that were created at
// one place in the program.
struct TaskGroup {
    // Qualified name of the coroutine function. For a place, the function that
    // has created the tasks, and `line` is the line of the place.
    const char *coroutine;
    const char *file;
    uint64_t line;
    uint64_t count; // Number of tasks in the group.
    // Growth of the group of tasks, in tasks per minute, over the newest minute
    // or less.
    double growth_per_min;
    // Smallest number of seconds for which the oldest task has existed.
    double oldest_s;
    // Id of the coroutine function; null if the function is not traced.
    uint64_t id;
    // The line of the innermost await in which most of the tasks wait.
    const char *waits_in; // Qualified name of the function that has this line.
    const char *wait_file;
    uint64_t wait_line;
    uint64_t wait_count; // Number of the group's tasks that wait at this line.
    // Seconds between the first and the newest growth of the group of tasks,
    // since it last shrank.
    double growing_s;
    // Name of the oldest task. If the program has given names to all tasks of
    // the group, name of any of the tasks.
    const char *task;
    // The await chain of the task whose name is in `task`, from its coroutine
    // to the innermost await. The list of the await chain is empty if the chain
    // was not read.
    const struct StackPlace *chain;
    size_t chain_count;
    // bool: true if the oldest task may be much older than `oldest_s`, because
    // the tasks were not read before the time at which this task was found.
    uint64_t oldest_is_least;
    // Up to 50 of the oldest tasks, the oldest first. The list is empty if
    // nobody has asked for the single tasks of this group.
    const struct TaskRow *tasks;
    size_t task_count;
    // CPU time of the group's tasks as a share of a core; null for a place.
    double cpu_share;
    double steps_per_s; // Steps of the group's tasks per second.
};

// Returns a number that stands for the group's coroutine function in all
// processes. The number is neither 0 nor UINT64_MAX.
uint64_t TaskGroup_key(const struct TaskGroup *group);

// The suspended calls of a coroutine function, by the kind of their await.
struct AwaitRow {
    uint64_t id;      // Id of the function; null if the function is not traced.
    const char *name; // Qualified name of the function.
    const char *file;
    uint64_t line;
    // Mean number of suspended calls for each kind of await. A call counts as
    // suspended if its task is suspended in it or in a coroutine that it
    // awaits.
    double of[AWAIT_KINDS];
};

// The exceptions of one type in one function.
struct ExceptionRow {
    // Name of the exceptions' type. A row of the type "(others)" is the sum of
    // all rows that are not listed, and has no function.
    const char *type;
    // Name of the function in which the exceptions occurred; null if the
    // function is not traced.
    const char *function;
    const char *file;
    // Line at which the row's first exception began; null if no exception of
    // the row began in this function.
    uint64_t line;
    uint64_t id;     // Id of the function.
    uint64_t raised; // Number of exceptions that began in the function.
    // Number of exceptions that came into the function from a function that it
    // had called.
    uint64_t passed;
    // Standard deviation of the number `raised`, divided by `raised`. `error`
    // is null if `raised` is counted, or if the deviation is not known.
    double error;
    double raised_per_s;
    double passed_per_s;
    double age_s; // Seconds since the row's newest exception.
    // Seconds from the start of tracing to the row's first exception.
    double first_s;
};

// The births and deaths of the objects of one type, in objects per second. In a
// row with a function, of the objects that this function creates.
struct ObjectRow {
    const char *type;
    // Name of the function, which is "(not traced)" if it is not traced. Null
    // if the row is the sum of all functions.
    const char *function;
    const char *file;
    uint64_t line;
    uint64_t id; // Id of the function.
    double born_per_s;
    // Deaths, and births without the deaths. They are not known for single
    // functions.
    double died_per_s;
    double net_per_s;
    double born_error; // Standard deviation of born_per_s.
    double net_error;  // Standard deviation of net_per_s.
    // bool: true if the type only grows. Null in a row with a function.
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
    uint64_t samples; // Samples of running threads since tracing began.
    // Number of times that the line was counted; null if hits of lines are not
    // counted. If hits_exact is false, the line may have run more often.
    uint64_t hits;
    uint64_t hits_exact;
    // Counted if hits_exact is true, otherwise estimated from hits in slices
    // and from the function's share.
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
    // Ocular's overhead, as a part of the CPU time that the process used in the
    // last ten seconds.
    double overhead_measured;
    double overhead_budget;
    double overhead_hooks;
    double overhead_rearm;
    double overhead_threads;
    // The allowed overhead, which is the budget, or more if the process uses
    // less than a fifth of a core.
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
    // Time that threads spent in functions that are not traced, as a part of
    // one core's wall time.
    double sampler_elsewhere;
    // Number of samples whose stack had too many frames.
    uint64_t sampler_truncated;
    // Reason why no samples are taken, or null if samples are taken.
    const char *sampler_trouble;
    // Number of newest seconds over which shares are computed.
    double sampler_window_s;
    // Number of samples of running threads in the last sampler_window_s
    // seconds.
    double sampler_window_samples;
    // Number of the signal by which samples are taken. If the number of the
    // signal is null, no thread has a timer, and all threads are observed 20
    // times a second instead.
    uint64_t sampler_signal;
    // Number of samples that were lost because a ring of samples was full.
    uint64_t sampler_lost;
    // Number of samples that found a thread in a hook of Ocular.
    uint64_t sampler_in_hooks;
    uint64_t sampler_untimed; // Number of threads that could get no timer.
    uint64_t functions_total;
    // states_armed, states_partial and states_dark are the numbers of functions
    // in each state.
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
    uint64_t threads_dropped; // Number of ended threads that are not listed.
    // Pauses of the garbage collector as a part of one core's wall time, over
    // about the last ten seconds.
    double gc_share;
    // The generations of the garbage collector, the youngest first.
    const struct GarbageRow *gc_generations;
    size_t gc_generation_count;
    // Code that matches one of the `exclude` rules is not traced.
    const struct FilterRule *filter_exclude;
    size_t filter_exclude_count;
    // If there are `include_only` rules, only code that matches one of them is
    // traced.
    const struct FilterRule *filter_include_only;
    size_t filter_include_only_count;
    // gil_held is the time for which any thread had the GIL. gil_waited is the
    // time for which threads waited for the GIL, added up over all threads.
    // gil_held and gil_waited are parts of one core's wall time over the last
    // sampler_window_s seconds.
    double gil_held;
    double gil_waited;
    // Longest time since tracing began, in seconds, for which one thread had
    // the GIL without a break while another thread waited for it. gil_longest_s
    // is null if no such time was seen.
    double gil_longest_s;
    // Stack of the thread at the end of the longest hold of the GIL, the
    // innermost function first.
    const struct StackPlace *gil_longest;
    size_t gil_longest_count;
    // gil_held_s and gil_waited_s are in seconds since tracing began.
    double gil_held_s;
    double gil_waited_s;
    // A list with one row for each thread whose event loop has run.
    const struct LoopRow *loops;
    size_t loop_count;
    // The newest stalls of event loops, sorted by their beginning.
    const struct StallRow *stalls;
    size_t stall_count;
    // Number of event loops' stalls since tracing began; null if not known.
    uint64_t stalls_total;
    // A step of an event loop that takes this number of seconds or longer is a
    // stall.
    double stall_limit_s;
    // Number of all asyncio tasks. tasks_total is null if not all tasks have
    // been read.
    uint64_t tasks_total;
    // The groups of asyncio tasks, the largest group first.
    const struct TaskGroup *tasks_groups;
    size_t tasks_group_count;
    // The coroutine functions of asyncio's tasks, with the kinds of their
    // awaits. The list is empty if no task has been read.
    const struct AwaitRow *tasks_awaits;
    size_t tasks_await_count;
    // The same tasks, grouped by the places at which they were created, the
    // largest group first. Tasks whose place is not known are missing.
    const struct TaskGroup *tasks_places;
    size_t tasks_place_count;
    // A list with one row for each kind of exceptions. The kind whose first
    // exception is the newest comes first.
    const struct ExceptionRow *exceptions;
    size_t exception_count;
    uint64_t exception_totals_raised;
    uint64_t exception_totals_passed;
    // Number of exceptions for control flow that began: StopIteration,
    // StopAsyncIteration, GeneratorExit and CancelledError. The other numbers
    // of exceptions do not contain exceptions for control flow.
    uint64_t exception_totals_control;
    // bool: true if all exceptions were counted.
    uint64_t exception_totals_exact;
    // Why there are no numbers of objects, or not all of them.
    const char *objects_trouble;
    // Part of the time in which objects were counted.
    double objects_part;
    // Types that only grow come first. After each type come the functions that
    // create most of its objects. The list is empty if nobody has asked for
    // objects.
    const struct ObjectRow *objects_types;
    size_t objects_type_count;
    // Time for which threads were ready to run and had no CPU, added up over
    // the threads: a part of one core's wall time over the last
    // sampler_window_s seconds.
    double cpu_waited;
    // Names of the events that the user has chosen, with commas between them.
    const char *chosen;
    // The hottest lines, the line with the largest share first. The list is
    // empty if nobody has asked for lines.
    const struct LineRow *lines;
    size_t line_count;
    // Seconds since tracing began at which the program wrote those numbers of a
    // recording that are in no event and in no sample. If the program was
    // killed, this is some seconds before its end. Null for a running process
    // and for a part of a run.
    double totals_s;
    // A traced process has its functions in `shared` and not in `functions`.
    // The rows in `shared` belong to several snapshots (row_set.h). The
    // schema's tables do not list `shared`.
    const struct RowSet *shared;
    // The number of owners of the snapshot beyond the first. Snapshot_free
    // decrements `held`, and frees the snapshot only if `held` is 0.
    unsigned held;
    struct Arena arena; // Owns the memory of all pointers in the snapshot.
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

// Returns "armed", "partial" or "dark", or NULL for any other number.
const char *State_name(uint64_t state);

// Returns a new snapshot, in which every number and text is null and every list
// is empty. The caller frees the snapshot. Returns NULL if there is no memory.
struct Snapshot *Snapshot_new(void);
void Snapshot_free(struct Snapshot *snapshot); // `snapshot` may be NULL.
// Adds an owner to the snapshot. Each owner of a snapshot calls Snapshot_free.
// All owners of a snapshot run on the same thread.
struct Snapshot *Snapshot_hold(struct Snapshot *snapshot);
// Makes the snapshot as empty as a new snapshot, but keeps the snapshot's
// memory for reuse.
void Snapshot_renew(struct Snapshot *snapshot);

// Returns zeroed memory that lives as long as the snapshot, or NULL if there is
// no memory.
void *Snapshot_alloc(struct Snapshot *snapshot, size_t size);
// Returns a copy of `text` that lives as long as the snapshot. Returns NULL if
// `text` is NULL or there is no memory.
const char *Snapshot_text(struct Snapshot *snapshot, const char *text);
// Returns the number of bytes of memory that the snapshot occupies.
size_t Snapshot_bytes(const struct Snapshot *snapshot);
