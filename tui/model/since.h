// SPDX-License-Identifier: MIT
// struct Since contains the snapshot that the key E saves. As on the screen,
// its counts begin at the last reset (key r). The saved snapshot has either the
// functions that are on the screen, in the same order, or all functions. struct
// Since borrows data from the model, so it must be released before the model
// changes.
#pragma once

#include "tui/model/model.h"

struct Since {
    struct Snapshot snapshot;
    // Uptime in seconds at which the counts begin (NaN = the start of the
    // trace).
    double at_s;
    uint64_t tid; // The thread whose shares are saved (NULL_U64 = all threads).
    struct Function *functions;
    struct Thread *threads;
    struct TransitionPair *pairs;
};

// Makes the snapshot. If `shown` is true, takes only the functions that are on
// the screen. The model must have a snapshot. Returns 0 or -ENOMEM.
int Since_make(struct Since *since, const struct Model *model, bool shown);
void Since_release(struct Since *since);
