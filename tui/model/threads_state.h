// SPDX-License-Identifier: MIT
// ThreadsState is the state of the threads view. ThreadsState consists of the
// order and the numbers of the threads.
#pragma once

#include "tui/model/model.h"

enum ThreadsColumn {
    THREADS_BY_CPU,
    THREADS_BY_WAIT,
    THREADS_BY_GIL_WAIT,
    THREADS_BY_GIL_HELD,
    THREADS_BY_TIME,
    THREADS_BY_SAMPLES,
    THREADS_BY_TID,
    THREADS_BY_NAME,
    THREADS_COLUMNS
};

struct ThreadsState {
    // True if the selection follows a thread, and false if it stays at the top.
    bool pinned;
    struct ThreadKey pin;
    int sort; // An enum ThreadsColumn.
    bool invert;
    // The snapshot's threads, sorted (owned array).
    const struct Thread **order;
    long count; // Number of threads in `order`.
};

void ThreadsState_release(struct ThreadsState *state);
// Sorts the threads of the snapshot, which may be NULL. If memory is out, the
// list is empty.
void ThreadsState_arrange(struct ThreadsState *state,
                          const struct Snapshot *now);
// Returns the thread of a row. Row 0 stands for all threads and has NULL.
const struct Thread *ThreadsState_at(const struct ThreadsState *state,
                                     long row);
// Returns the thread's name, or "(no name)".
const char *ThreadsState_name(const struct Thread *thread);
// Returns the row of the selected thread, or -1 if the snapshot does not list
// the thread any more.
long ThreadsState_row(struct ThreadsState *state, const struct Snapshot *now);
// Makes the selection follow `thread`. If `thread` is NULL, selects the row of
// all threads.
void ThreadsState_pin(struct ThreadsState *state, const struct Thread *thread);

// struct ThreadFigures contains the numbers of one thread since the reset or
// the baseline. NaN means unknown.
struct ThreadFigures {
    double cpu, cpu_before; // CPU shares of the thread now and at the baseline.
    double wait, wait_before;
    double gil_held, gil_wait; // Shares now.
    double seconds;            // Seconds of CPU time of the thread.
    double samples;
};

struct ThreadFigures ThreadFigures_of(const struct Model *model,
                                      const struct Thread *thread);
// Returns the same numbers for all threads together. `wait` and `samples` are
// NaN, because a sum of them has no meaning.
struct ThreadFigures ThreadFigures_of_all(const struct Model *model);
