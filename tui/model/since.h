// SPDX-License-Identifier: MIT
// The snapshot as E saves it: with the counts that are on the screen, which
// begin at the last reset (r), and the functions that are shown, in their
// order, with the shares that they have there, or all. It borrows from the
// model, and is there for a moment. One thread.
#ifndef OCULAR_TUI_MODEL_SINCE_H
#define OCULAR_TUI_MODEL_SINCE_H

#include "tui/model/model.h"

struct Since {
    struct Snapshot snapshot;
    double at_s;  // of the process's time: counts are since then; NaN: all
    uint64_t tid; // shares of functions are of that thread; NULL_U64: of all
    struct Function *functions;
    struct Thread *threads;
    struct TransitionPair *pairs;
};

// Of a model that has a snapshot. 0 or -ENOMEM.
int Since_make(struct Since *since, const struct Model *model, bool shown);
void Since_release(struct Since *since);

#endif
