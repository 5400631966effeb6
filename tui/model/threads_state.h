// SPDX-License-Identifier: MIT
// The state of the threads view: the order of the threads and their numbers.
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
    bool pinned; // the selection stays with a thread, else at the top
    struct ThreadKey pin;
    int sort; // enum ThreadsColumn
    bool invert;
    const struct Thread **order; // threads of the snapshot, sorted; owned
    long count;                  // threads in `order`
};

void ThreadsState_release(struct ThreadsState *state);
// Sorts the threads of the snapshot, which may be NULL. Without memory there
// are none.
void ThreadsState_arrange(struct ThreadsState *state,
                          const struct Snapshot *now);
// Returns the thread in a row; NULL: row 0, which stands for all threads.
const struct Thread *ThreadsState_at(const struct ThreadsState *state,
                                     long row);
const char *ThreadsState_name(const struct Thread *thread); // or "(no name)"
// Returns the row of the selected thread, which may have moved; -1: it is not
// listed any more.
long ThreadsState_row(struct ThreadsState *state, const struct Snapshot *now);
// The selection stays with that thread; NULL: with all.
void ThreadsState_pin(struct ThreadsState *state, const struct Thread *thread);

// One thread's numbers since the reset or the baseline; NaN: not known.
struct ThreadFigures {
    double cpu, cpu_before; // shares; the second as of the baseline
    double wait, wait_before;
    double seconds; // of CPU time
    double samples;
};

struct ThreadFigures ThreadFigures_of(const struct Model *model,
                                      const struct Thread *thread);
// Those of all threads together. There is no sum of waiting or samples: it
// would mean nothing.
struct ThreadFigures ThreadFigures_of_all(const struct Model *model);

#endif
