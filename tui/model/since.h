// SPDX-License-Identifier: MIT
// The snapshot as E saves it: with the counts on the screen, which begin at the
// last reset (r), and with the functions and shares on the screen, in their
// order, or all. It borrows from the model, so it is short-lived. Called by
// ui.c. One thread.
#ifndef OCULAR_TUI_MODEL_SINCE_H
#define OCULAR_TUI_MODEL_SINCE_H

#include "tui/model/model.h"

struct Since {
    struct Snapshot snapshot;
    double at_s;  // uptime that counts begin at, in s; NaN: the start
    uint64_t tid; // of the thread that shares are of; NULL_U64: all
    struct Function *functions;
    struct Thread *threads;
    struct TransitionPair *pairs;
};

// `shown`: only the functions on the screen. The model must have a snapshot. 0
// or -ENOMEM.
int Since_make(struct Since *since, const struct Model *model, bool shown);
void Since_release(struct Since *since);

#endif
