// SPDX-License-Identifier: MIT
// struct AwaitCounts counts for each coroutine function what its suspended
// calls await. A walk over asyncio's tasks finds each task's chain of
// coroutines. The counts of many walks give mean numbers of suspended calls, in
// which the newest walks weigh most. Only the governor's thread calls the
// functions of await_counts.h, which do not need the GIL.
#pragma once

#include "tracer/session/task_groups.h"

// Largest number of coroutine functions whose suspended calls are counted.
#define AWAIT_FUNCTIONS 512

// The numbers of a function of which suspended calls were found. If the
// function belongs to asyncio or anyio, its name says what its callers await.
struct AwaitCount {
    struct TaskLine at; // The struct AwaitCount owns its texts.
    // The kind of thing that a suspended call of the function awaits, if the
    // function's name shows this, or AWAIT_UNKNOWN.
    enum AwaitKind kind;
    uint64_t chain; // Number of the newest chain that contains the function.
    // Suspended calls that the present walk has found.
    uint32_t found[AWAIT_KINDS];
    // True for a traced function of the program's own code. `oldest_s` is then
    // the age in seconds of the oldest suspended call that the present walk has
    // found, as far as it is known.
    bool own;
    double oldest_s;
    unsigned aged; // Number of these calls whose age was asked for.
    // Sums over all walks, in which the newest walks weigh most.
    double sums[AWAIT_KINDS];
};

struct Engine;

struct AwaitCounts {        // All fields are 0 at first.
    struct AwaitCount *all; // AWAIT_FUNCTIONS entries, or NULL.
    unsigned count;
    uint64_t chains; // Number of chains that were counted.
    double weight;   // Sum of the weights of all walks.
    double ended_s;  // CLOCK_MONOTONIC in seconds at the end of the last walk.
};

// Begins a walk, and forgets the counts of an earlier walk that has not ended.
void AwaitCounts_begin(struct AwaitCounts *counts);
// Returns the struct AwaitCount of a function. Returns NULL if there are too
// many functions or there is no memory. `at` is the function's first line.
struct AwaitCount *AwaitCounts_find(struct AwaitCounts *counts,
                                    const struct TaskLine *at);
// Counts the suspended calls of a chain of coroutines, the outermost first. All
// calls of the chain await what the outermost function with a known kind
// awaits. The calls of a chain await `otherwise` if no function has a known
// kind. An entry of `chain` may be NULL.
void AwaitCounts_add(struct AwaitCounts *counts,
                     struct AwaitCount *const *chain, unsigned depth,
                     enum AwaitKind otherwise);
// Passes the suspended calls that a whole walk has found to the latencies of
// the program's own functions. The numbers are valid for `valid_s` seconds. The
// caller of AwaitCounts_tell then calls AwaitCounts_end.
void AwaitCounts_tell(const struct AwaitCounts *counts, struct Engine *engine,
                      double valid_s);
// Ends a walk that has found all tasks.
void AwaitCounts_end(struct AwaitCounts *counts, double now_s);
// Adds the mean numbers of suspended calls to the table. The table gets no
// numbers if there is no memory.
void AwaitCounts_fill(const struct AwaitCounts *counts,
                      struct TaskTable *table);
void AwaitCounts_release(struct AwaitCounts *counts);

// Returns what a call of this coroutine function awaits, or AWAIT_UNKNOWN if
// the function is none of those of asyncio and anyio that only wait.
enum AwaitKind AwaitKind_of(const char *file, const char *name);
