// SPDX-License-Identifier: MIT
// While somebody asks for asyncio's tasks, reads which coroutine each task
// runs, at which line its innermost coroutine waits, and what the coroutines of
// the task's await chain wait for. Each slice of a walk reads for less than 100
// us with the GIL held. No task is kept alive between two slices, and no Python
// code runs. Only the governor's thread uses a walk.
#pragma once

#include "python/hooks/state.h"
#include "python/service/task_cursor.h"
#include "tracer/base/random.h"
#include "tracer/session/await_counts.h"
#include "tracer/session/task_groups.h"

struct TaskWalk {
    struct TaskGroups groups;
    struct AwaitCounts awaits;
    uint32_t random;
    bool walking; // A walk has begun and is not complete.
    struct TaskCursor cursor;
    unsigned restarts; // Number of times that this walk has begun again.
    bool all_shown;    // True if the single tasks of all groups are shown.

    // Times of CLOCK_MONOTONIC (0 = none): of the next slice, of the newest
    // table, and of the newest change of `credit_s`.
    double next_s, shown_s, credited_s;
    double credit_s; // CPU time that slices may use at once, in seconds.
    double cost_s;   // CPU time of this walk so far, in seconds.
    uint64_t found;  // Number of tasks that the last whole walk found.
};

// Returns true if it is time for a slice.
bool TaskWalk_is_due(const struct TaskWalk *walk, const struct State *state,
                     double now_s);
// Finds out whose single tasks are shown, and if the next slice begins a walk,
// prepares their lists. The caller does not hold the GIL, because this may take
// longer than a slice.
void TaskWalk_prepare(struct TaskWalk *walk, struct State *state);
// Reads one slice. The caller holds the GIL.
void TaskWalk_step(struct TaskWalk *walk, struct State *state);
// Passes the groups to the thread that builds snapshots, and plans the next
// slice. The slice has taken `took_s` seconds of CPU time. The caller does not
// hold the GIL.
void TaskWalk_end_slice(struct TaskWalk *walk, struct State *state,
                        double took_s, bool overdrawn);
// Returns the seconds until TaskWalk_is_due has to be called again. Frees the
// memory if no viewer has asked for tasks for a while.
double TaskWalk_pause(struct TaskWalk *walk, struct State *state, double now_s);
// Ends a walk that has begun. The caller holds the GIL.
void TaskWalk_stop(struct TaskWalk *walk);
void TaskWalk_release(struct TaskWalk *walk);
