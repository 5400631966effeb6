// SPDX-License-Identifier: MIT
// Sums over all functions of a snapshot, and rates since the previous snapshot.
// Owned by the model, drawn by the header. One thread.
#ifndef OCULAR_TUI_MODEL_TALLY_H
#define OCULAR_TUI_MODEL_TALLY_H

#include "ipc/snapshot.h"

#include <stddef.h>

struct Tally { // a double is NaN if it is not known
    size_t armed;
    size_t partial;
    size_t dark;
    // age in s of the oldest data of a function that runs and is not armed
    double oldest_s;
    double specialized;
    double specializable;
    double share; // CPU share of all threads
    double events_per_s;
    double deopts_per_s;
    double deopts; // number since the start
};

void Tally_init(struct Tally *tally);
// `before` is the previous snapshot; NULL: `now` is the first.
void Tally_update(struct Tally *tally, const struct Snapshot *now,
                  const struct Snapshot *before);

#endif
