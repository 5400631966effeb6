// SPDX-License-Identifier: MIT
// The snapshot that the key E saves. The snapshot has the counts on the screen,
// which begin at the last reset (r), and either the functions on the screen in
// their order, with their shares, or all functions. The snapshot borrows from
// the model, so it is short-lived. Called by ui.c. One thread.
#ifndef OCULAR_TUI_MODEL_SINCE_H
#define OCULAR_TUI_MODEL_SINCE_H

#include "tui/model/model.h"

struct Since {
    struct Snapshot snapshot;
    double at_s;  // uptime in s at which the counts begin; NaN: the start
    uint64_t tid; // thread of the shares; NULL_U64: all threads
    struct Function *functions;
    struct Thread *threads;
    struct TransitionPair *pairs;
};

// With `shown`, only the functions on the screen are included. The model must
// have a snapshot. Returns 0 or -ENOMEM.
int Since_make(struct Since *since, const struct Model *model, bool shown);
void Since_release(struct Since *since);

#endif
