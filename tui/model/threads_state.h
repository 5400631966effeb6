// SPDX-License-Identifier: MIT
// The state of the threads view: the order of the threads, and their numbers.
// Draws nothing. One thread.
#ifndef OCULAR_TUI_MODEL_THREADS_STATE_H
#define OCULAR_TUI_MODEL_THREADS_STATE_H

#include "tui/model/model.h"

enum ThreadsColumn {
    THREADS_BY_CPU,
    THREADS_BY_WAIT,
    THREADS_BY_TIME,
    THREADS_BY_SAMPLES,
    THREADS_BY_TID,
    THREADS_BY_NAME,
    THREADS_COLUMNS
};

struct ThreadsState {
    bool pinned; // the selection follows a thread; else it stays at the top
    struct ThreadKey pin;
    int sort; // an enum ThreadsColumn
    bool invert;
    const struct Thread **order; // sorted threads of the snapshot; owned
    long count;                  // number of threads in `order`
};

void ThreadsState_release(struct ThreadsState *state);
// Sorts the threads of the snapshot, which may be NULL. Without memory, the
// list is empty.
void ThreadsState_arrange(struct ThreadsState *state,
                          const struct Snapshot *now);
// Returns the thread in a row, or NULL for row 0, which stands for all threads.
const struct Thread *ThreadsState_at(const struct ThreadsState *state,
                                     long row);
// the name, or "(no name)"
const char *ThreadsState_name(const struct Thread *thread);
// Returns the row of the selected thread, which may have moved, or -1 if it is
// not listed any more.
long ThreadsState_row(struct ThreadsState *state, const struct Snapshot *now);
// Makes the selection follow `thread`; NULL: the row of all threads.
void ThreadsState_pin(struct ThreadsState *state, const struct Thread *thread);

// The numbers of one thread since the reset or the baseline; NaN: not known.
struct ThreadFigures {
    double cpu, cpu_before; // shares now and at the baseline
    double wait, wait_before;
    double seconds; // seconds of CPU time
    double samples;
};

struct ThreadFigures ThreadFigures_of(const struct Model *model,
                                      const struct Thread *thread);
// Returns the numbers of all threads together. Waiting and samples are NaN,
// because their sums would be meaningless.
struct ThreadFigures ThreadFigures_of_all(const struct Model *model);

#endif
