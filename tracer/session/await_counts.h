// SPDX-License-Identifier: MIT
// struct AwaitCounts counts what the suspended calls of coroutine functions
// await. A walk over asyncio's tasks finds each task's chain of coroutines. The
// counts of many walks give mean numbers of suspended calls, in which the
// newest walks weigh most. Only the governor's thread calls these functions,
// which do not need the GIL.
#pragma once

#include "tracer/session/task_groups.h"

// Largest number of coroutine functions whose suspended calls are counted.
#define AWAIT_FUNCTIONS 512

// A function of which suspended calls were found. If the function belongs to
// asyncio or anyio, its name says what its callers await.
struct AwaitCount {
    struct TaskLine at; // The struct AwaitCount owns its texts.
    // The kind of await in which a call of the function is suspended, or
    // AWAIT_UNKNOWN.
    enum AwaitKind kind;
    uint64_t chain; // Number of the newest chain in which the function was.
    // Suspended calls that the present walk has found.
    uint32_t found[AWAIT_KINDS];
    // Sums over all walks, in which the newest walks weigh most.
    double sums[AWAIT_KINDS];
};

struct AwaitCounts {        // A zeroed struct AwaitCounts has no functions.
    struct AwaitCount *all; // AWAIT_FUNCTIONS entries, or NULL.
    unsigned count;
    uint64_t chains; // Number of chains that were counted.
    double weight;   // Sum of the weights of all walks.
    double ended_s;  // CLOCK_MONOTONIC in seconds at the end of the last walk.
};

// Forgets the counts of a walk that has not ended.
void AwaitCounts_begin(struct AwaitCounts *counts);
// Returns the count of a function. Returns NULL if there are too many functions
// or there is no memory. `at` has the function's first line.
struct AwaitCount *AwaitCounts_find(struct AwaitCounts *counts,
                                    const struct TaskLine *at);
// Counts the suspended calls of a chain, the outermost first. The calls await
// what the outermost function with a known kind awaits. If no function has a
// known kind, the calls await `otherwise`. An entry of `chain` may be NULL.
void AwaitCounts_add(struct AwaitCounts *counts,
                     struct AwaitCount *const *chain, unsigned depth,
                     enum AwaitKind otherwise);
// Ends a walk that has found all tasks.
void AwaitCounts_end(struct AwaitCounts *counts, double now_s);
// Adds the mean numbers of suspended calls to the table. If there is no memory,
// the table gets none.
void AwaitCounts_fill(const struct AwaitCounts *counts,
                      struct TaskTable *table);
void AwaitCounts_release(struct AwaitCounts *counts);

// Returns what a call of this coroutine function awaits, or AWAIT_UNKNOWN if
// the function is none of those of asyncio and anyio that only wait.
enum AwaitKind AwaitKind_of(const char *file, const char *name);
