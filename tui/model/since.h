// SPDX-License-Identifier: MIT
// struct Since has the snapshot that the key E saves. The counts begin at the
// last reset (r), as on the screen. The snapshot has either the functions on
// the screen in the screen's order, or all functions. The snapshot borrows data
// from the model, so the snapshot must be released before the model changes.
#pragma once

#include "tui/model/model.h"

struct Since {
    struct Snapshot snapshot;
    // Uptime in seconds at which the counts begin (NaN = the start of the
    // trace).
    double at_s;
    uint64_t tid; // the thread whose shares are saved (NULL_U64 = all threads)
    struct Function *functions;
    struct Thread *threads;
    struct TransitionPair *pairs;
};

// Makes the snapshot. If `shown` is true, includes only the functions on the
// screen. The model must have a snapshot. Returns 0 or -ENOMEM.
int Since_make(struct Since *since, const struct Model *model, bool shown);
void Since_release(struct Since *since);
