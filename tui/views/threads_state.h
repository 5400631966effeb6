// SPDX-License-Identifier: MIT
// What the threads view remembers, and the order that it shows threads in.
// Draws nothing. One thread.
#ifndef OCULAR_TUI_VIEWS_THREADS_STATE_H
#define OCULAR_TUI_VIEWS_THREADS_STATE_H

#include "tui/model/model.h"
#include "tui/screen/list.h"

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
    struct List list; // row 0 is all threads together
    bool pinned;      // the selection stays with a thread, else at the top
    struct ThreadKey pin;
    int sort; // enum ThreadsColumn
    bool invert;
};

struct ThreadOrder {
    const struct Thread **threads; // owned; NULL: no memory
    long count;
};

// All threads of the snapshot, sorted; for ThreadOrder_release.
struct ThreadOrder ThreadOrder_make(const struct ThreadsState *state,
                                    const struct Snapshot *now);
void ThreadOrder_release(struct ThreadOrder *order);
// The thread in row `index`, NULL: all threads.
const struct Thread *ThreadOrder_at(const struct ThreadOrder *order,
                                    long index);
const char *ThreadOrder_name(const struct Thread *thread); // or "(no name)"
// Finds the selected thread again, for a list of `height` lines.
void ThreadsState_fit(struct ThreadsState *state,
                      const struct ThreadOrder *order,
                      const struct Snapshot *now, long height);
// The selection stays with the thread that the list has selected.
void ThreadsState_pin(struct ThreadsState *state,
                      const struct ThreadOrder *order);

#endif
