// SPDX-License-Identifier: MIT
// A tally contains sums over all functions of a snapshot, and rates since the
// previous snapshot. The model owns the tally, and the header draws it.
#pragma once

#include "ipc/snapshot.h"

#include <stddef.h>

struct Tally { // A number in struct Tally is NaN if it is not known.
    size_t armed;
    size_t partial;
    size_t dark;
    // Age in seconds of the oldest data of all functions that run without
    // hooks.
    double oldest_s;
    double specialized;
    double specializable;
    double share; // CPU share of all threads.
    double events_per_s;
    double deopts_per_s;
    // Number of losses of specialised forms since the start of tracing.
    double deopts;
};

void Tally_init(struct Tally *tally);
// `before` is the previous snapshot, or NULL if `now` is the first snapshot.
void Tally_update(struct Tally *tally, const struct Snapshot *now,
                  const struct Snapshot *before);
